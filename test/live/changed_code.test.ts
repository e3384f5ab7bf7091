import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  compile,
  defineOperator,
  Engine,
  type LiveSession,
  type Operator,
  type Program,
} from "../../src/index.ts";
import type { RecursiveDefinition } from "../../src/operator/definition.ts";
import { fileFolder } from "../support/file_folder.ts";

let engine: Engine;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => {
  await engine.close();
});

const facts = {
  name: "acc",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "other",
  summary: "What has come so far.",
  nulls: "Null where the argument is null.",
  source: "made for a test",
  costNs: () => 1,
  nullWhere: {},
  examples: [{ formula: "acc(x)", inputs: { x: [1] }, output: [1] }],
  initialState: () => [0],
} as const;

type Reference = RecursiveDefinition["reference"];
const total: Reference = ([x], _, state) => {
  state[0]! += x!;
  return state[0]!;
};
const highest: Reference = ([x], _, state) => {
  state[0] = Math.max(state[0]!, x!);
  return state[0];
};
const operatorOf = (reference: Reference): Operator => defineOperator({ ...facts, reference });

let moduleCount = 0;

/** The operator of a module in a folder of its own, whose reference is in a file beside it. */
async function operatorOfModule(combined: string): Promise<Operator> {
  const place = join(folder, `version-${moduleCount++}`);
  mkdirSync(place);
  writeFileSync(join(place, "combine.mjs"), `export const combine = (carried, x) => ${combined};\n`);
  const { initialState: _, costNs: __, ...data } = facts;
  const module = join(place, "acc.mjs");
  writeFileSync(
    module,
    `import { combine } from "./combine.mjs";
    export const acc = {
      ...${JSON.stringify(data)},
      costNs: () => 1,
      initialState: () => [0],
      reference: ([x], settings, state) => (state[0] = combine(state[0], x)),
      module: import.meta.url,
    };\n`,
  );
  return (await import(pathToFileURL(module).href)).acc;
}

function changeModule(version: number): void {
  const file = join(folder, `version-${version}`, "combine.mjs");
  writeFileSync(file, "export const combine = Math.max;\n");
}

const programOf = (operators: readonly Operator[], text = "a = acc(close)") =>
  compile(text, { fields: ["close"], operators });
const open = (operators: readonly Operator[], text?: string) =>
  engine.openSession(programOf(operators, text), { symbols: ["A"], retainRows: 1 });

async function push(session: LiveSession, day: number, close: number): Promise<unknown[]> {
  const { table } = await session.push({ time: new Date(day * 86_400_000), fields: { close: [close] } });
  return Object.values(table.get(0)!.toJSON()).slice(2);
}

/** After 1 to 9, whose sum is 45 and whose maximum is 9. */
async function pushNine(session: LiveSession): Promise<void> {
  for (let day = 1; day <= 9; day++) await push(session, day, day);
}

/** What the next row gives in a session that goes on from a checkpoint of another one; "short" ahead of it if it says so. */
async function nextAfter(first: readonly Operator[], second: readonly Operator[], text?: string) {
  await using before = await open(first, text);
  await pushNine(before);
  await using after = await open(second, text);
  await after.restore(await before.checkpoint());
  const isShort = after.shortOfHistory["a"] === Number.POSITIVE_INFINITY;
  return [...(isShort ? ["short"] : []), ...(await push(after, 11, 11))];
}

describe("a checkpoint", () => {
  test("is worth nothing to an operator of the same name with other code", async () => {
    const [sum, maximum] = [operatorOf(total), operatorOf(highest)];
    // From the one row that is kept.
    expect(await nextAfter([sum], [maximum])).toEqual(["short", 11]);
    expect(await nextAfter([maximum], [sum])).toEqual(["short", 20]);
    expect(await nextAfter([sum], [operatorOf(total)])).toEqual([56]);
    expect(await nextAfter([maximum], [operatorOf(highest)])).toEqual([11]);
  });

  test("does not ask for operators that the formulas do not apply, nor for their order", async () => {
    const other = (reference: Reference) => defineOperator({ ...facts, name: "other", reference });
    const [sum, first, second] = [operatorOf(total), other(total), other(highest)];
    expect(await nextAfter([sum, first], [second, sum])).toEqual([56]);
  });

  test("is worth nothing where a file that the operator's module imports has changed", async () => {
    const [sum, same, maximum] = [
      await operatorOfModule("carried + x"),
      await operatorOfModule("carried + x"),
      await operatorOfModule("Math.max(carried, x)"),
    ];
    expect(await nextAfter([sum], [maximum])).toEqual(["short", 11]);
    expect(await nextAfter([sum], [same])).toEqual([56]);
  });

  test("is of the code that a session runs, whatever the file has become", async () => {
    const [sum, same] = [await operatorOfModule("carried + x"), await operatorOfModule("carried + x")];
    await using before = await open([sum]);
    await push(before, 0, 0);
    changeModule(moduleCount - 2);
    await pushNine(before);
    await using after = await open([same]);
    await after.restore(await before.checkpoint());
    expect(await push(after, 11, 11)).toEqual([56]);
  });
});

test("threads that would import other code than the formulas were compiled with do not run it", async () => {
  const program = programOf([await operatorOfModule("carried + x")]);
  changeModule(moduleCount - 1);
  // The threads of the other engine have not imported it either, but they may have been started long ago.
  await using later = await Engine.start({ threads: 1 });
  for (const one of [engine, later]) {
    const pushed = engine === one ? "before" : "now";
    await expect(openAndPush(one, program), `threads started ${pushed}`).rejects.toMatchObject({
      code: "E515",
      message: expect.stringMatching(/cannot be loaded by executor threads: .* before it was changed/),
    });
  }
});

async function openAndPush(one: Engine, program: Program): Promise<unknown[]> {
  await using session = await one.openSession(program, { symbols: ["A"] });
  return await push(session, 1, 1);
}

describe("an update", () => {
  test("to other code of an operator starts it with the rows that are kept, and says so", async () => {
    for (const text of ["a = acc(close)", "b = close\na = acc(close)"]) {
      await using session = await open([operatorOf(total)]);
      await pushNine(session);
      const report = await session.update(programOf([operatorOf(highest)], text));
      expect(report.shortOfHistory, text).toEqual({ a: Number.POSITIVE_INFINITY });
      expect((await push(session, 10, 2)).at(-1), text).toBe(9);
      expect((await push(session, 11, 11)).at(-1), text).toBe(11);
    }
  });

  test("with the operator as it was goes on", async () => {
    const sum = operatorOf(total);
    await using session = await open([sum]);
    await pushNine(session);
    const report = await session.update(programOf([sum], "b = close\na = acc(close)"));
    expect(report.shortOfHistory).toEqual({});
    expect(await push(session, 10, 11)).toEqual([11, 56]);
  });
});
