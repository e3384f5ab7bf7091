import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type BarInput,
  compile,
  defineOperator,
  Engine,
  openPanelSource,
  openResultWriter,
  panelSource,
  readCheckpoint,
  readPanel,
  UsageError,
  writeCheckpoint,
  writeTable,
} from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { facts, x } from "./fixtures/operator_facts.ts";

/** What JavaScript lets through: each public function names what it takes, what it got and where to get the right thing. */

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

const panel = panelOf({ close: [[1, 2]] });
const program = compile("a = close", { fields: ["close"], groups: [] });
const wrong = (value: unknown) => value as never;
const promise = wrong(Promise.resolve());

const A_PANEL = "a panel is what await readPanel(path) gives";
const A_SOURCE = `${A_PANEL}, a source what await openPanelSource(path) gives`;
const A_PROGRAM = "a program is what compile(text) gives";
const A_TEXT = 'give the text itself, e.g. of readFileSync(file, "utf8")';
const A_PATH = "give the path as a text";
const A_CHECKPOINT = "a checkpoint is what await session.checkpoint() or await readCheckpoint(path) gives";

async function batchesOf(...args: Parameters<Engine["stream"]>): Promise<void> {
  for await (const _ of engine.stream(...args));
}

async function tablesOf(...args: Parameters<Engine["evaluateMany"]>): Promise<void> {
  for await (const _ of engine.evaluateMany(...args));
}

async function push(bar: unknown): Promise<void> {
  await using session = await engine.open(program, { symbols: ["A", "B"] });
  await session.push(bar as BarInput);
}

async function restore(checkpoint: unknown): Promise<void> {
  await using session = await engine.open(program, { symbols: ["A", "B"] });
  await session.restore(wrong(checkpoint));
}

async function update(other: unknown): Promise<void> {
  await using session = await engine.open(program, { symbols: ["A", "B"] });
  await session.update(wrong(other));
}

test.each<[call: string, work: () => unknown, problem: string, remedy: string]>([
  [
    "compile(undefined)",
    () => compile(wrong(undefined)),
    "compile takes a text of formulas, got undefined",
    A_TEXT,
  ],
  ["compile(123)", () => compile(wrong(123)), "compile takes a text of formulas, got a number", A_TEXT],
  [
    "compile(buffer)",
    () => compile(wrong(Buffer.of(1))),
    "compile takes a text of formulas, got a Buffer",
    A_TEXT,
  ],
  [
    "compile(promise)",
    () => compile(promise),
    "compile takes a text of formulas, got a promise",
    `await it: ${A_TEXT}`,
  ],
  [
    "evaluate without a panel",
    () => engine.evaluate(program, wrong(undefined)),
    "evaluate takes a panel, got undefined",
    A_PANEL,
  ],
  [
    "evaluate with a promise of a panel",
    () => engine.evaluate(program, promise),
    "evaluate takes a panel, got a promise",
    `await it: ${A_PANEL}`,
  ],
  [
    "evaluate with a source",
    () => engine.evaluate(program, wrong(panelSource(panel))),
    "evaluate takes a panel, got an object",
    A_PANEL,
  ],
  [
    "evaluate with plain columns",
    () => engine.evaluate(program, wrong({ ...panel, fields: { close: [1, 2] } })),
    "evaluate takes a panel, got an object",
    A_PANEL,
  ],
  [
    "evaluate without a program",
    () => engine.evaluate(wrong(undefined), panel),
    "evaluate takes a program, got undefined",
    A_PROGRAM,
  ],
  [
    "evaluate with a text",
    () => engine.evaluate(wrong("a = close"), panel),
    "evaluate takes a program, got a string",
    A_PROGRAM,
  ],
  [
    "evaluate with a promise of a program",
    () => engine.evaluate(promise, panel),
    "evaluate takes a program, got a promise",
    `await it: ${A_PROGRAM}`,
  ],
  [
    "stream without a program",
    () => batchesOf(wrong({}), panel),
    "stream takes a program, got an object",
    A_PROGRAM,
  ],
  [
    "stream without a source",
    () => batchesOf(program, wrong(null)),
    "stream takes a panel or a source, got null",
    A_SOURCE,
  ],
  [
    "stream with a promise",
    () => batchesOf(program, promise),
    "stream takes a panel or a source, got a promise",
    `await it: ${A_SOURCE}`,
  ],
  [
    "openStream with a promise",
    () => engine.openStream(program, promise),
    "stream takes a panel or a source, got a promise",
    `await it: ${A_SOURCE}`,
  ],
  [
    "evaluateMany without a program",
    () => tablesOf(wrong(1), panel, []),
    "evaluateMany takes a program, got a number",
    A_PROGRAM,
  ],
  [
    "evaluateMany with a promise",
    () => tablesOf(program, promise, []),
    "evaluateMany takes a panel, got a promise",
    `await it: ${A_PANEL}`,
  ],
  [
    "evaluateMany without calls",
    () => tablesOf(program, panel, wrong({ params: {} })),
    "evaluateMany takes a list of calls, got an object",
    "write [{ params: { ... } }, ...]",
  ],
  [
    "open with a promise",
    () => engine.open(promise, { symbols: ["A"] }),
    "open takes a program, got a promise",
    `await it: ${A_PROGRAM}`,
  ],
  [
    "open with a promise of a warm-up",
    () => engine.open(program, { warmup: promise }),
    "the option warmup takes a panel, got a promise",
    `await it: ${A_PANEL}`,
  ],
  [
    "open with a promise of a checkpoint",
    () => engine.open(program, { checkpoint: promise }),
    "a session takes a checkpoint, got a promise",
    `await it: ${A_CHECKPOINT}`,
  ],
  [
    "restore without a checkpoint",
    () => restore(undefined),
    "a session takes a checkpoint, got undefined",
    A_CHECKPOINT,
  ],
  ["update without a program", () => update("a = close"), "update takes a program, got a string", A_PROGRAM],
  [
    "push without a bar",
    () => push(undefined),
    "a session takes a bar, got undefined",
    "write { time, fields: { close: [...] } }, or give several, or a panel: await readPanel(path)",
  ],
  [
    "push with a list that has a hole",
    () => push([null]),
    "a session takes a bar, got null",
    "write { time, fields: { close: [...] } }, or give several, or a panel: await readPanel(path)",
  ],
  [
    "push without fields",
    () => push({ time: 1, close: [1, 2] }),
    "a session takes a bar, got an object",
    "write { time, fields: { close: [...] } }, or give several, or a panel: await readPanel(path)",
  ],
  [
    "push of a field without values",
    () => push({ time: 1, fields: { close: undefined } }),
    "the field close takes a list of numbers, got undefined",
    "give one value per symbol, null where there is none",
  ],
  [
    "readPanel(undefined)",
    () => readPanel(wrong(undefined)),
    "a panel's reading takes a path, got undefined",
    A_PATH,
  ],
  [
    "openPanelSource(url)",
    () => openPanelSource(wrong(new URL("file:///bars.csv"))),
    "a panel's reading takes a path, got a URL",
    A_PATH,
  ],
  [
    'readPanel(""), not the working directory',
    () => readPanel(""),
    "a panel's reading takes a path, got an empty text",
    A_PATH,
  ],
  [
    "readPanel with groups of a number",
    () => readPanel("a.csv", { groups: wrong(5) }),
    "the option groups takes a path, got a number",
    A_PATH,
  ],
  [
    "readPanel with new names of numbers",
    () => readPanel("a.csv", { rename: { close: wrong(5) } }),
    "the option rename takes an object of texts, got an object",
    "write { field: column }",
  ],
  [
    "readPanel with a time column of a number",
    () => readPanel("a.csv", { timeColumn: wrong(5) }),
    "the option timeColumn takes the name of a column, got a number",
    "give it as a text",
  ],
  [
    "openPanelSource with a limit as a text",
    () => openPanelSource("a.csv", { memoryLimitBytes: wrong("4GiB") }),
    "the option memoryLimitBytes takes a number, got a string",
    "give the bytes, e.g. 4 * 2 ** 30",
  ],
  [
    "evaluate with params by time of no path",
    () => engine.evaluate(program, panel, { paramsByTime: "" }),
    "the option paramsByTime takes a path, got an empty text",
    A_PATH,
  ],
  [
    "panelSource(promise)",
    () => panelSource(promise),
    "panelSource takes a panel, got a promise",
    `await it: ${A_PANEL}`,
  ],
  [
    "writeTable with a promise",
    () => writeTable(promise, "a.csv"),
    "writeTable takes an Arrow table, got a promise",
    "await it: a table is what await engine.evaluate(program, panel) gives",
  ],
  [
    "writeTable without a path",
    async () => writeTable(await engine.evaluate(program, panel), wrong(undefined)),
    "writeTable takes a path, got undefined",
    A_PATH,
  ],
  [
    "openResultWriter without a path",
    () => openResultWriter(wrong(undefined)),
    "openResultWriter takes a path, got undefined",
    A_PATH,
  ],
  [
    "write of a table",
    async () => {
      await using writer = await openResultWriter(join(tmpdir(), "factorloom-never.csv"));
      await writer.write(wrong(await engine.evaluate(program, panel)));
    },
    "write takes a record batch, got a Table",
    "give the batches of engine.stream(program, source)",
  ],
  [
    "readCheckpoint(undefined)",
    () => readCheckpoint(wrong(undefined)),
    "readCheckpoint takes a path, got undefined",
    A_PATH,
  ],
  [
    "writeCheckpoint without a path",
    () => writeCheckpoint(wrong(undefined), new Uint8Array()),
    "writeCheckpoint takes a path, got undefined",
    A_PATH,
  ],
  [
    "writeCheckpoint with a promise",
    () => writeCheckpoint("a", promise),
    "writeCheckpoint takes a checkpoint, got a promise",
    `await it: ${A_CHECKPOINT}`,
  ],
  [
    "defineOperator(undefined)",
    () => defineOperator(wrong(undefined)),
    "defineOperator takes the definition of an operator, got undefined",
    "docs/user_operators.md says what it needs",
  ],
])("%s", async (_, work, problem, remedy) => {
  const error: unknown = await Promise.try(work).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ code: "E528", problem, remedy });
});

const { nullWhere: _, ...undeclared } = facts;
const PLUS_ONE = {
  ...undeclared,
  name: "plus_one",
  axis: "elementwise",
  parameters: [x],
  summary: "One more.",
  reference: (value: number) => value + 1,
};

test.each([
  [{}, "a name is lower-case letters, digits and _"],
  [{ name: "twice" }, "axis is one of elementwise, rolling"],
  [{ name: "twice", axis: "rolling" }, "parameters is a list"],
  [{ ...PLUS_ONE, result: "serie" }, "result is series or condition, got a string"],
  [{ ...PLUS_ONE, unit: "price" }, "unit is same or none or other, got a string"],
  [{ ...PLUS_ONE, examples: undefined }, "examples is a list, got undefined"],
  [PLUS_ONE, "nullWhere says where it has no value: { domain: (x) => x < 0 }, say, or {} for nowhere"],
  [
    { ...PLUS_ONE, nullWhere: null },
    "nullWhere says where it has no value: { domain: (x) => x < 0 }, say, or {} for nowhere",
  ],
  [
    { ...PLUS_ONE, nullWhere: { bad_luck: () => true } },
    "nullWhere has an unknown cause, bad_luck; docs/null_causes.md has the list",
  ],
  [
    { ...PLUS_ONE, nullWhere: { absent: () => true } },
    "nullWhere has absent, a cause that the engine finds by itself",
  ],
  [{ ...PLUS_ONE, nullWhere: { domain: true } }, "nullWhere.domain is a function"],
])("defineOperator(%j)", (definition, problem) => {
  expect(() => defineOperator(wrong(definition))).toThrow(
    `E549 operator ${wrong(definition)["name"]}: ${problem}`,
  );
});

test("options that were not awaited are no options", async () => {
  await expect(engine.evaluate(program, panel, promise)).rejects.toThrow(
    "E528 evaluate takes an object of options, got a promise",
  );
});

test("a memory limit is a positive number of bytes, however large", async () => {
  const path = "examples/data/sp100_sectors.csv";
  const limit = (memoryLimitBytes: number) => openPanelSource(path, { memoryLimitBytes });
  for (const bytes of [0, -1, Number.NaN])
    await expect(limit(bytes)).rejects.toThrow(`E507 a memory limit of ${bytes} bytes`);
  for (const bytes of [1, 1e20, 1e30, Number.POSITIVE_INFINITY])
    await expect(limit(bytes)).rejects.toThrow("E311 examples/data/sp100_sectors.csv: no time column");
});
