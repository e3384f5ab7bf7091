import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { Library } from "../../src/kernel/emit/library.ts";
import { ModuleBuilder, takes } from "../../src/kernel/emit/module.ts";
import { RowScratch } from "../../src/kernel/rows/layout/row_scratch.ts";
import { RowKernel } from "../../src/kernel/rows/row_kernel.ts";
import { readsWholeRows } from "../../src/operator/definition.ts";
import { formPlan } from "../../src/plan/form.ts";
import { callText, exampleSettings } from "../conformance/applications.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";

/**
 * The code of every operator across the row, as hashes on record in emitted_bytes.golden.txt: whoever rewrites what emits
 * it sees whether the code is still the same. The code itself depends on no machine.
 */
const GOLDEN = new URL("emitted_bytes.golden.txt", import.meta.url).pathname;

/** Rows that are padded and not, and of digits of several lengths. */
const LANE_COUNTS = [1, 8, 101, 5_000];

const CALLS = builtInRegistry.operators.flatMap((operator) => {
  if (operator.axis === "rewrite" || !readsWholeRows(operator) || !operator.lower) return [];
  return exampleSettings(operator).map((settings) => callText(operator, { settings }));
});

function bytesOf(text: string, laneCount: number, hasFusedMultiply: boolean): Uint8Array {
  const program = compile(`factor = ${text}`, { fields: FIELDS, groups: GROUPS });
  const plan = formPlan(finalDag(program), { laneCount, blockRows: 8, executorCount: 1 });
  const module = new ModuleBuilder();
  const setup = {
    library: new Library(module, hasFusedMultiply),
    plan,
    scratch: new RowScratch(0),
    host: {
      segment: module.importFunction("segment", takes(4)),
      row: module.importFunction("row", takes(2)),
    },
  };
  for (const task of plan.tasks) {
    const operator = builtInRegistry.kernel(task.operator);
    if (readsWholeRows(operator)) operator.lower?.(new RowKernel(setup, task), task.settings);
  }
  return module.build(1);
}

function hashOf(text: string, hasFusedMultiply: boolean): string {
  const hash = createHash("sha256");
  for (const laneCount of LANE_COUNTS) hash.update(bytesOf(text, laneCount, hasFusedMultiply));
  return hash.digest("hex").slice(0, 12);
}

test("the code of operators across the row is that on record", () => {
  const rows = CALLS.map((text) => [text, hashOf(text, true), hashOf(text, false)]);
  const table = `${formatTable(["call", "with fused multiply", "without"], rows, () => false)}\n`;
  if (process.env["UPDATE_GOLDEN"]) writeFileSync(GOLDEN, table);
  expect(table, "if this is meant, UPDATE_GOLDEN=1 and say why in the commit").toBe(
    readFileSync(GOLDEN, "utf8"),
  );
});
