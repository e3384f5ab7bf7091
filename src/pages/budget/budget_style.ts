import { SHELL_STYLE } from "../shell/style.ts";

export const BUDGET_STYLE = `${SHELL_STYLE}
main { max-width: 1180px; margin: 0 auto; padding: 20px 24px 48px; }
header { display: flex; justify-content: space-between; align-items: start; gap: 12px; flex-wrap: wrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
svg text.strong { font-weight: 600; } svg text.small { font-size: 11px; } svg text.limit { fill: var(--heavy); font-weight: 600; }
td, th { text-align: right; white-space: nowrap; } td:first-child, th:first-child { text-align: left; }
.plot { max-height: none; }
.beyond { color: var(--heavy); font-weight: 600; }
@media (max-width: 760px) { main { padding: 16px 14px 40px; } }
`;
