import { SIDE_STYLE } from "../shell/side_style.ts";

/** The colour of each kind of work. */
const WORK_COLOURS = {
  input: "column",
  lanes: "elementwise",
  rows: "cross_section",
  scheduler: "recursive",
  prepare: "group",
  read: "rolling",
  write: "heavy",
};

const works = Object.entries(WORK_COLOURS).map(
  ([kind, colour]) =>
    `.work.${kind} { fill: var(--${colour}); } i.work.${kind} { background: var(--${colour}); } .spark.${kind} .area { fill: var(--${colour}); }`,
);

export const REPORT_STYLE = `${SIDE_STYLE}
.area { fill: var(--bar); } .ground { fill: var(--back); } .rule { stroke: var(--line); }
.spark { display: block; margin: 3px 0; } td .spark .ground { fill: color-mix(in srgb, var(--edge) 16%, transparent); }
.pair { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 20px; }
@media (min-width: 1180px) { .pair { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.sortable th { padding: 2px 1px; } .sort { border-color: transparent; background: none; padding: 3px 8px; font-weight: 600; white-space: nowrap; }
th[aria-sort="descending"] .sort::after { content: " ▼"; } th[aria-sort="ascending"] .sort::after { content: " ▲"; }
.sortable td { vertical-align: middle; padding: 4px 9px; } .tools input { width: min(34ch, 100%); }
td code { display: inline-block; min-width: 24ch; max-width: 90ch; } .sortable td code { min-width: 52ch; } .sortable td span { display: inline-block; min-width: 26ch; }
${works.join("\n")}
`;
