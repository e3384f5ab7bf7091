import { expect, test } from "vitest";
import { checkPanel } from "../../../src/data/panel/check_panel.ts";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import type { GroupColumn, Panel, TimeType } from "../../../src/panel.ts";
import { panelOf } from "../../panels.ts";

const panel = panelOf({
  x: [
    [1, 2],
    [3, 4],
    [5, 6],
  ],
  sector: [
    ["a", "b"],
    ["b", "a"],
    ["a", null],
  ],
});
const times = (...values: bigint[]) => ({ time: { ...panel.time, values: BigInt64Array.from(values) } });
const typed = (type: TimeType) => ({ time: { ...panel.time, type } });
const sector = (change: Partial<GroupColumn>) => ({
  groups: new Map([["sector", { ...panel.groups.get("sector")!, ...change }]]),
});
const codes = (...values: number[]) => {
  const shared = new Int32Array(new SharedArrayBuffer(values.length * 4));
  shared.set(values);
  return shared;
};

test.each<[string, Partial<Panel>, RegExp]>([
  ["a time twice", times(1n, 2n, 2n), /the time of row 2 is not after that of row 1/],
  ["times that go back", times(1n, 3n, 2n), /the time of row 2/],
  ["a time too few", times(1n, 2n), /time.values has length 2, .* make it 3/],
  ["a symbol too few", { symbols: ["A"] }, /symbols has length 1/],
  ["a symbol twice", { symbols: ["A", "A"] }, /a symbol occurs twice/],
  [
    "a field too short",
    { fields: new Map([["x", panel.fields.get("x")!.subarray(0, 5)]]) },
    /the field x has length 5/,
  ],
  [
    "a field of another type",
    { fields: new Map([["x", new Float32Array(6) as never]]) },
    /the field x is not a Float64Array/,
  ],
  ["too few marks of presence", { present: new Uint8Array(4) }, /present has length 4/],
  [
    "a code without a label",
    sector({ codes: codes(0, 1, 2, 0, 0, 0) }),
    /the group sector has the code 2 at 2, and 2 labels/,
  ],
  ["a code below -1", sector({ codes: codes(0, 1, -2, 0, 0, 0) }), /the code -2/],
  [
    "codes for each cell of a group that stays",
    sector({ changesOverTime: false }),
    /the group sector has length 6/,
  ],
  ["a symbol that is empty", { symbols: ["A", ""] }, /the symbol of lane 1 is not a text, or is empty/],
  ["no symbols", { symbols: undefined as never }, /symbols is not an array/],
  ["another mark of presence", { present: Uint8Array.of(1, 1, 2, 1, 1, 1) }, /present holds 2/],
  [
    "a unit of times that there is not",
    typed({ kind: "timestamp", unit: "m" as never, timezone: null }),
    /"m"/,
  ],
  [
    "a time beyond its type",
    { time: { ...panel.time, type: { kind: "date" }, values: BigInt64Array.of(1n, 2n, 2n ** 31n) } },
    /the time 2147483648 does not fit 32 bits/,
  ],
  ["a label twice", sector({ labels: ["a", "a"] }), /the group sector has a label twice/],
  ["no count of rows", { rowCount: 1.5 }, /rowCount is 1.5/],
])("a panel made by hand with %s", (_, change, message) => {
  const made = { ...panel, ...change };
  expect(() => checkPanel(made)).toThrow(message);
  expect(() => panelSource(made)).toThrow(/^E522 the panel does not fit together/);
});

test("a panel that fits together passes, also with a group that stays", () => {
  checkPanel(panel);
  checkPanel({ ...panel, ...sector({ changesOverTime: false, codes: codes(0, -1) }) });
});
