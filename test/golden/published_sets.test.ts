import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Table } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { finalDag } from "../../src/compile.ts";
import { inputsOf, type Task } from "../../src/dag/dag.ts";
import { compile, Engine, type Panel, type Program, readPanel } from "../../src/index.ts";
import { here, readGolden, TableReader } from "./golden_file.ts";

/**
 * The published formula sets on the real bars against an independent oracle in rational arithmetic (oracle.py): nulls
 * exactly, values to the last bit. Where a formula takes a power or a logarithm two mathematical libraries may differ
 * in the last bit, so that 1e-12 relative is allowed there; no such difference decides a rank in these samples.
 */
const RELATIVE_TOLERANCE = 1e-12;

/** Values near 0 in which that last bit of a logarithm weighs more (1.2e-12 and 3.2e-12 in one cell each). */
const CANCELLING: Readonly<Record<string, number>> = { alpha041: 1e-11, CORD20: 1e-11, gtja122: 1e-11 };

const LIBRARY_FUNCTIONS = new Set(["power", "signed_power", "log"]);

/** Factors in each golden file; a set that shrinks unseen would prove less. */
const SETS = [
  { set: "alpha101", factorCount: 101, threadCounts: [1, 2, 4] },
  { set: "alpha158", factorCount: 158, threadCounts: [2] },
  { set: "alpha360", factorCount: 66, threadCounts: [2] },
  { set: "gtja191", factorCount: 182, threadCounts: [2] },
] as const;

let panel: Panel;
beforeAll(async () => {
  panel = await readPanel(here("../../examples/data/sp100_daily.csv.gz"), {
    groups: here("../../examples/data/sp100_sectors.csv"),
  });
});

describe.each(SETS)("$set", ({ set, factorCount, threadCounts }) => {
  const golden = readGolden(set);
  const names = Object.keys(golden.factors);
  const digests = new Set<string>();
  let program: Program;
  let table: Table;
  let reader: TableReader;

  beforeAll(async () => {
    const text = readFileSync(here(`../../examples/${set}.factors`), "utf8");
    program = compile(text, { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] });
    for (const threads of threadCounts) {
      await using engine = await Engine.start({ threads });
      table = (await engine.evaluate(program, panel, { select: names })).table;
      digests.add(digestOf(table, names));
    }
    reader = new TableReader(table);
  });

  test("any number of executors gives the same bits", () => {
    expect(digests.size).toBe(1);
  });

  test("the oracle covers the set", () => {
    expect(names).toHaveLength(factorCount);
    expect(new Set(program.factors.map(({ name }) => name)).isSupersetOf(new Set(names))).toBe(true);
  });

  test.each(names)("%s agrees with the oracle", (name) => {
    const tolerance = usesLibraryFunction(program, name) ? (CANCELLING[name] ?? RELATIVE_TOLERANCE) : 0;
    expect(reader.mismatches(golden, name, tolerance)).toEqual([]);
  });
});

/** True if a power or a logarithm is among all that the factor depends on. */
function usesLibraryFunction(program: Program, name: string): boolean {
  const { tasks, outputs } = finalDag(program);
  const pending = outputs.filter((output) => output.name === name).map(({ task }) => task);
  const seen = new Set(pending);
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const task = tasks[id] as Task;
    if (task.kind === "call" && LIBRARY_FUNCTIONS.has(task.operator.name)) return true;
    for (const input of inputsOf(task)) {
      if (seen.has(input)) continue;
      seen.add(input);
      pending.push(input);
    }
  }
  return false;
}

/** Digest of the bits of all values and nulls: equal for tables that agree to the last bit. */
function digestOf(result: Table, names: readonly string[]): string {
  const hash = createHash("sha256");
  for (const name of names) {
    for (const { values, nullBitmap } of result.getChild(name)?.data ?? [])
      hash.update(values).update(nullBitmap);
  }
  return hash.digest("hex");
}
