import { SHELL_STYLE } from "./style.ts";

/** What pages with a list of factors at the side look like. */
export const SIDE_STYLE = `${SHELL_STYLE}
body { display: grid; grid-template-columns: 264px minmax(0, 1fr); min-height: 100vh; }
.side { position: sticky; top: 0; height: 100vh; display: flex; flex-direction: column; gap: 10px; padding: 16px; border-right: 1px solid var(--line); background: var(--card); }
.side input { width: 100%; } .side ul { list-style: none; margin: 0; padding: 2px; overflow-y: auto; flex: 1; }
.side li a { display: flex; justify-content: space-between; gap: 8px; padding: 4px 8px; border-radius: 6px; color: inherit; text-decoration: none; }
.side li span:first-child { overflow-wrap: anywhere; } .side li a:hover { background: var(--back); }
.side a[aria-current] { background: color-mix(in srgb, var(--accent) 16%, transparent); font-weight: 600; }
.side nav { display: flex; gap: 6px; } .side nav a { padding: 4px 10px; border: 1px solid var(--line); border-radius: 6px; text-decoration: none; color: inherit; }
.side .bottom { display: flex; justify-content: space-between; gap: 8px; font-size: 13px; }
main { padding: 20px 28px 48px; min-width: 0; }
main:focus-visible { outline: none; }
.detail { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; } .detail h2 { margin-top: 0; }
pre { margin: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 var(--mono); } mark { background: var(--mark); color: inherit; border-radius: 3px; }
.tools { display: flex; gap: 6px; align-items: center; flex-wrap: wrap; margin: 8px 0; }
kbd { font: 12px var(--mono); border: 1px solid var(--edge); border-radius: 4px; padding: 0 5px; }
@media (max-width: 760px) { body { display: block; } .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } .side ul { max-height: 136px; } main { padding: 16px 14px 40px; } .facts div { flex: 1 1 128px; } }
`;
