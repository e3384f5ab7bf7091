import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, writtenDag } from "../../src/compile.ts";
import type { CallTask } from "../../src/dag/dag.ts";
import type { KernelOperator, Operator, Settings } from "../../src/operator/definition.ts";
import type { Panel } from "../../src/panel.ts";
import { callText, columnsOf, settingsWithWindows } from "../conformance/applications.ts";
import { FIELDS, GROUPS, panels } from "../conformance/awkward_panels.ts";
import { runDag } from "../kernel/run_plan.ts";
import { here } from "./golden_file.ts";

/**
 * What is saved under a fingerprint outlives the release that saved it. So an operator whose bits, or whose carried state,
 * change must get another revision: operators.golden.txt has both, for references (code has their bits by the tests of
 * conformance). `UPDATE_GOLDEN=1` takes new operators and raised revisions, and nothing else.
 */
const GOLDEN = here("operators.golden.txt");
const operators = builtInRegistry.operators.filter(
  (operator): operator is KernelOperator => operator.axis !== "rewrite",
);

/** In `pairs` all pairs of awkward numbers meet, which is nothing new for windows and rows. */
const PANELS: readonly [Panel, readonly KernelOperator[]][] = [
  [panels.history, operators],
  [panels.pairs, operators.filter(({ axis }) => axis === "elementwise")],
];
const WINDOWS = [5];
const DIGITS = 16;

/** A call with the settings of the first example, and some with other windows. */
function callsOf(operator: Operator): string[] {
  const settings = settingsWithWindows(operator, WINDOWS);
  const calls = settings.map((one) => callText(operator, { settings: one }));
  const skipsNulls = operator.axis === "rolling" && operator.allowsMinPeriods === true;
  return skipsNulls ? [...calls, callText(operator, { settings: settings[0]!, minPeriods: 1 })] : calls;
}

/** The state of every lane after the last row. */
function finalStates(
  operator: KernelOperator & { axis: "recursive" },
  settings: Settings,
  panel: Panel,
): Float64Array[] {
  const columns = columnsOf(operator).map(({ field }) => panel.fields.get(field)!);
  return Array.from({ length: panel.laneCount }, (_, lane) => {
    const state = Float64Array.from(operator.initialState(settings));
    for (let cell = lane; cell < panel.rowCount * panel.laneCount; cell += panel.laneCount)
      operator.reference(columns.map((column) => column[cell]!) as never, settings, state);
    return state;
  });
}

/** For each operator its revision, the length of its state and a digest of its bits. */
function goldenLines(): Map<string, string> {
  const hashes = new Map(operators.map(({ name }) => [name, createHash("sha256")]));
  const lengths = new Map<string, Set<number>>(operators.map(({ name }) => [name, new Set()]));
  for (const [panel, tried] of PANELS) {
    const calls = tried.flatMap((operator) => callsOf(operator).map((call) => ({ operator, call })));
    const text = calls.map(({ call }, index) => `f${index} = ${call}`).join("\n");
    const dag = writtenDag(compile(text, { fields: FIELDS, groups: GROUPS }));
    const columns = runDag(dag, panel, { reference: true });
    for (const [index, { operator }] of calls.entries()) {
      const hash = hashes.get(operator.name)!.update(bytesOf(columns[index]!));
      if (operator.axis !== "recursive") continue;
      const { settings } = dag.tasks[dag.outputs[index]!.task] as CallTask;
      for (const state of finalStates(operator, settings, panel)) {
        lengths.get(operator.name)!.add(state.length);
        hash.update(bytesOf(state));
      }
    }
  }
  return new Map(
    operators.map(({ name, revision = 1 }) => {
      const state = [...lengths.get(name)!].join("/") || "-";
      return [name, `${revision} ${state} ${hashes.get(name)!.digest("hex").slice(0, DIGITS)}`];
    }),
  );
}

/** All nulls have the same bits. */
function bytesOf(values: Float64Array): Uint8Array {
  const own = values.map((value) => (Number.isNaN(value) ? Number.NaN : value));
  return new Uint8Array(own.buffer);
}

function recorded(): Map<string, string> {
  const lines = readFileSync(GOLDEN, "utf8").trimEnd().split("\n");
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]));
}

const revisionOf = (line: string) => Number(line.split(" ")[0]);

test("an operator whose bits or carried state have changed has another revision", () => {
  const found = goldenLines();
  const before = recorded();
  const unrevised = [...found].flatMap(([name, line]) => {
    const known = before.get(name);
    return known !== undefined && known !== line && revisionOf(line) <= revisionOf(known) ? [name] : [];
  });
  expect(
    unrevised,
    "their bits or their state changed: raise `revision` in their definitions, so that nothing saved before is used",
  ).toEqual([]);
  if (process.env["UPDATE_GOLDEN"])
    writeFileSync(GOLDEN, [...found].map(([name, line]) => `${name} ${line}\n`).join(""));
  expect(
    Object.fromEntries(found),
    "new operators and revisions: UPDATE_GOLDEN=1 npx vitest run test/golden/operators.test.ts",
  ).toEqual(Object.fromEntries(recorded()));
});
