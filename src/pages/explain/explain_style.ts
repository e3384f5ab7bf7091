import { SIDE_STYLE } from "../shell/side_style.ts";

const AXES = ["column", "elementwise", "rolling", "recursive", "cross_section", "group"];

export const EXPLAIN_STYLE = `${SIDE_STYLE}
.bars { fill: var(--bar); } .cell { fill: var(--bar); } .lane { fill: var(--back); } .strip { stroke: var(--line); }
.shares text { font-family: var(--mono); }
.box rect { fill: var(--card); stroke: var(--edge); } .box .kind { stroke: none; }
.box text { font-family: var(--mono); } .box .small { fill: var(--quiet); font-size: 11px; font-family: inherit; }
.box { cursor: pointer; } .box:hover rect:first-child { stroke: var(--accent); } .box:focus { outline: none; }
.box:focus-visible rect:first-child { stroke: var(--accent); stroke-width: 3; }
.box[aria-pressed="true"] rect:first-child { fill: color-mix(in srgb, var(--accent) 14%, var(--card)); stroke: var(--accent); stroke-width: 2; }
.edge { fill: none; stroke: var(--edge); stroke-width: 1.3; } .edge.heavy { stroke: var(--heavy); stroke-width: 2.6; }
.ordinal { text-anchor: middle; dominant-baseline: central; paint-order: stroke; stroke: var(--card); stroke-width: 5px; font-size: 14px; }
.legend i.heavy { height: 3px; width: 18px; background: var(--heavy); vertical-align: 4px; }
${AXES.map((axis) => `.box .kind.${axis} { fill: var(--${axis}); } .legend i.${axis} { background: var(--${axis}); }`).join("\n")}
.graph { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; }
pre .gone { color: var(--heavy); } pre .come { color: var(--rolling); }
.steps { display: flex; flex-wrap: wrap; gap: 6px; margin: 10px 0; } .steps button[aria-pressed="true"] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); font-weight: 600; }
td.number .over { color: var(--heavy); } td code { display: inline-block; min-width: 22ch; }
@media (min-width: 1180px) { .graph { grid-template-columns: minmax(0, 1fr) 320px; align-items: start; } }
@media (min-width: 1800px) { .graph { grid-template-columns: minmax(0, 1fr) 520px; } }
`;
