const LIGHT = `color-scheme: light;
--back: #fafaf8; --card: #ffffff; --ink: #1b1f24; --quiet: #565d66; --line: #d7d9dc; --edge: #868d96; --accent: #0a58b8; --mark: #fff0b8; --heavy: #b3261e; --bar: #4b83c3;
--column: #6b7280; --elementwise: #3569b5; --rolling: #0c7a6a; --recursive: #8a5a00; --cross_section: #a03a86; --group: #6246b8;`;
const DARK = `color-scheme: dark;
--back: #14171b; --card: #1c2026; --ink: #e9ebee; --quiet: #a4abb4; --line: #363c45; --edge: #7d8590; --accent: #84b6ff; --mark: #54470f; --heavy: #ff8a80; --bar: #5f97d8;
--column: #9aa2ad; --elementwise: #7fb0f5; --rolling: #4fc9b4; --recursive: #e0ac4e; --cross_section: #e58fcd; --group: #b09cf7;`;

/** What all pages look like: the system's scheme unless the reader chooses, one size of text, room at the edges. */
export const SHELL_STYLE = `
:root { ${LIGHT} --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }
:root[data-scheme="light"] { ${LIGHT} }
:root[data-scheme="dark"] { ${DARK} }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: var(--back); }
h1 { font-size: 22px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 17px; margin: 28px 0 6px; }
p { margin: 4px 0 12px; max-width: 78ch; overflow-wrap: anywhere; } p:empty { margin: 0; } a { color: var(--accent); }
.quiet { color: var(--quiet); } code, .mono { font-family: var(--mono); font-size: 13px; overflow-wrap: anywhere; }
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 6px; padding: 5px 10px; }
button { cursor: pointer; } button:hover { border-color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.facts { display: flex; flex-wrap: wrap; gap: 10px; margin: 16px 0; padding: 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 14px; min-width: 128px; }
.facts dt { color: var(--quiet); font-size: 13px; } .facts dd { margin: 0; font-size: 20px; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; font-size: 13.5px; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 8px 12px; color: var(--quiet); }
th, td { padding: 5px 12px; text-align: left; border-top: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; } .number { text-align: right; white-space: nowrap; }
tbody tr:hover { background: color-mix(in srgb, var(--accent) 7%, transparent); }
figure { margin: 0; } figure svg { display: block; } svg text { fill: var(--ink); font-size: 12px; }
.plot { overflow: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px; max-height: 78vh; margin-bottom: 14px; } .plot svg { margin: 0 auto; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0; padding: 0; list-style: none; font-size: 13px; color: var(--quiet); }
.legend svg { vertical-align: -3px; margin-right: 6px; } .legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
details { margin: 0 0 14px; } summary { cursor: pointer; color: var(--accent); } details .wide { max-height: 420px; overflow-y: auto; margin-top: 6px; }
`;
