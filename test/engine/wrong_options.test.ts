import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CLUSTER_OPTIONS,
  checkedClusterCall,
  checkedClusterOptions,
  OWN_CLUSTER_OPTIONS,
  TLS_FILES,
} from "../../src/cluster/client/options.ts";
import { COMPILE_OPTIONS } from "../../src/compile.ts";
import { BLOCK_REQUEST } from "../../src/data/panel/panel_source.ts";
import { PANEL_SOURCE_OPTIONS } from "../../src/data/source/source_options.ts";
import { OWN_DIFF_OPTIONS } from "../../src/difference/program_difference.ts";
import { DIFF_RESULTS_OPTIONS } from "../../src/difference/result_difference.ts";
import { CALL_OPTIONS } from "../../src/evaluation/many/many_calls.ts";
import { THRESHOLD_OPTIONS } from "../../src/evaluation/memory/thresholds.ts";
import { HANG_OPTIONS } from "../../src/execution/watch/hang_watch.ts";
import {
  compile,
  diffResults,
  Engine,
  FactorloomError,
  type LiveSession,
  panelSource,
  readPanel,
} from "../../src/index.ts";
import { OWN_OPEN_OPTIONS, PUSH_OPTIONS } from "../../src/live/options.ts";
import { UPDATE_OPTIONS } from "../../src/live/session/update.ts";
import type { Door } from "../../src/options/doors.ts";
import { ENGINE_OPTIONS } from "../../src/options/engine_options.ts";
import { optionsAt } from "../../src/options/option_table.ts";
import { OWN_WHY_OPTIONS, OWN_WHY_ROWS_OPTIONS } from "../../src/reasons/why.ts";
import type { ArgumentKind } from "../../src/text/argument_kinds.ts";
import { shownValue } from "../../src/text/argument_kinds.ts";
import { panelOf } from "../panels.ts";
import { Seeded } from "../support/seeded.ts";
import { errorOf, WRONG_VALUES } from "./fixtures/wrong_values.ts";

/**
 * Each option of each call with values of all kinds: JavaScript would take those that are wrong, or fail on them later. What
 * the call says follows from the kinds of its options; those with words of their own are in `WORDS`.
 */

let engine: Engine;
let session: LiveSession;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
  session = await engine.openSession(program, { symbols: ["A", "B"], revisable: true });
  await session.push(bar);
});
afterAll(() => engine.close());

const panel = panelOf({ close: [[1, 2]] });
const program = compile("a = close", { fields: ["close"], groups: [] });
const bar = { time: 1, fields: { close: [1, 2] } };
const cell = { factor: "a", symbol: "L0", time: "1970-01-01" };
const { time: _, ...factor } = cell;
const request = { fields: ["close"], groups: [], blockRows: 1 };
const local = { scheduler: "tcp://127.0.0.1:1" };

async function all(batches: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of batches);
}

type Kinds = Readonly<Record<string, ArgumentKind>>;

/** The options of the table that a door takes, and its own. */
function at(door: Door, own: Kinds = {}): Kinds {
  return { ...Object.fromEntries(optionsAt(door).taken.map(({ name, kind }) => [name, kind])), ...own };
}

/** Whether times are such of the data is found out later. */
const {
  from: _from,
  to: _to,
  restarts: _restarts,
  ...CLUSTER_CALL
} = at("a cluster's evaluate", OWN_CLUSTER_OPTIONS);

/** By callee, as messages call it: its options, a call with them, and what a call needs at least. */
const CALLS: Readonly<Record<string, readonly [Kinds, (options: object) => unknown, needed?: object]>> = {
  compile: [COMPILE_OPTIONS, (options) => compile("a = close", options)],
  evaluate: [at("evaluate"), (options) => engine.evaluate(program, panel, options)],
  stream: [at("stream"), (options) => all(engine.stream(program, panel, options))],
  evaluateMany: [at("evaluateMany"), (options) => all(engine.evaluateMany(program, panel, [{}], options))],
  "a call": [CALL_OPTIONS, (options) => all(engine.evaluateMany(program, panel, [options]))],
  nulls: [at("nulls"), (options) => engine.nulls(program, panel, options)],
  diff: [at("diff", OWN_DIFF_OPTIONS), (options) => engine.diff(program, program, panel, options)],
  diffResults: [DIFF_RESULTS_OPTIONS, (options) => diffResults(panel, panel, options)],
  why: [at("why", OWN_WHY_OPTIONS), (options) => engine.why(program, panel, { ...cell, ...options })],
  whyRows: [
    at("whyRows", OWN_WHY_ROWS_OPTIONS),
    (options) => engine.whyRows(program, panel, { ...factor, ...options }),
  ],
  openSession: [
    at("openSession", OWN_OPEN_OPTIONS),
    async (options) => await (await engine.openSession(program, { symbols: ["A"], ...options })).close(),
    { symbols: ["A"] },
  ],
  push: [PUSH_OPTIONS, (options) => session.push({ ...bar, time: session.lastTime! + 1n }, options)],
  revise: [PUSH_OPTIONS, (options) => session.revise({ ...bar, time: session.lastTime! }, options)],
  update: [UPDATE_OPTIONS, (options) => session.update(program, options)],
  "a panel's reading": [PANEL_SOURCE_OPTIONS, (options) => readPanel("none.csv", options)],
  blocks: [BLOCK_REQUEST, (options) => all(panelSource(panel).blocks({ ...request, ...options })), request],
  "Engine.start": [ENGINE_OPTIONS, (options) => Engine.start(options), { threads: 0 }],
  hang: [HANG_OPTIONS, (hang) => Engine.start({ hang, threads: 0 })],
  memoryThresholds: [THRESHOLD_OPTIONS, (memoryThresholds) => Engine.start({ memoryThresholds, threads: 0 })],
  "Cluster.connect": [CLUSTER_OPTIONS, (options) => checkedClusterOptions({ ...local, ...options }), local],
  tls: [TLS_FILES, (tls) => checkedClusterOptions({ scheduler: "tls://127.0.0.1:1", tls })],
  "a cluster's evaluate": [CLUSTER_CALL, (options) => checkedClusterCall(options)],
};

/** What a kind of the tables takes at most, as messages call it: a kind that takes more is found out. */
const TAKEN_AT_MOST: Readonly<Record<string, readonly string[]>> = {
  "true or false": ["a boolean"],
  "a text": ["a string", "an empty text"],
  "a path": ["a string"],
  "the name of a column": ["a string", "an empty text"],
  "a number": ["a number"],
  "a whole number of rows from 1": [],
  "a function": ["a function"],
  "an AbortSignal": [],
  "a panel": [],
  "an object": ["an object", "a Buffer", "a URL"],
  "an object of texts": ["an object", "a URL"],
  "a list": ["an array", "a Buffer"],
  "a list of texts": ["an array"],
  "a Map of texts": ["a Map"],
  "a text or a Date": ["a string", "an empty text", "a Date"],
  "labels by symbol": ["an object", "a URL"],
  "a checkpoint": ["a Buffer", "a string"],
};

const BLOCKS = "E528 blocks of % rows\n  give a whole number from 1 to 65536";
const PRIORITY = "E528 the priority is %\n  give a whole number from -1000 to 1000";
const KERNEL = "E506 unknown kernel %\n  kernels: compiled, reference";
const TOLERANCE = "E528 a tolerance of %\n  give a number that is not negative, e.g. 1e-9";
const SHARE = " is %\n  give a share of the memory limit, e.g. 0.8, or 0 for none";
const COST = "E528 not a cost model: *\n  *factorloom bench calibrate*";
const edgeOf = (name: string) => [`E541 ${name} is *; the times of the data are each a date`, NO_DATE];
const NO_DATE = "E541 % is not a date (YYYY-MM-DD)\n  write it like the times in the data";
const recordOf = (name: string) => [
  `E528 ${name} takes an object of options, got &`,
  `E527 unknown option * of ${name}`,
];
const inSession = (name: string, wanted: string) => `E528 ${name} is %\n  give ${wanted}`;
const ofCluster = (name: string, wanted: string) => `E528 ${name} is *\n  ${wanted}`;
/** Objects without a value. */
const OBJECTS = [{}, Object.create(null), "a URL"];
const NOT_EMPTY = "give a text that is not empty";
const SECONDS = "give a positive number of seconds";
const COUNT = "give a positive whole number";

/**
 * The options whose kinds have words of their own: what is said to a value, `%` as it is shown, `&` as it is called, `*` whatever
 * stands there; and values that are taken.
 */
const WORDS: Readonly<Record<string, readonly [says: string | readonly string[], ...taken: unknown[]]>> = {
  "evaluate.from": [edgeOf("from"), "a Date"],
  "evaluate.to": [edgeOf("to"), "a Date"],
  // A text is read by DuckDB: in one call of all.
  from: [edgeOf("from"), "a Date", "a string", "an empty text"],
  to: [edgeOf("to"), "a Date", "a string", "an empty text"],
  blockRows: [BLOCKS],
  priority: [PRIORITY, 0, -1],
  kernel: [KERNEL],
  tolerance: [TOLERANCE, 0, 1.5],
  "openSession.time": ["E528 time.name is *\n  give the name of a column", null],
  priorities: [
    ["E528 the option priorities takes an object, got &", "E528 the priority of zzz is"],
    null,
    {},
    Object.create(null),
    "a URL",
  ],
  memoryLimitBytes: [
    ["E528 the option memoryLimitBytes takes a number, got &", "E528 a memory limit of % bytes", "E301"],
    null,
  ],
  restarts: [
    [
      "E528 the option restarts takes a list of times or { sessions, timezone }, got &",
      "E527 unknown option zzz of restarts",
      "E528 the option sessions takes pairs of times of the day in order, got undefined",
      "E541",
    ],
    null,
    [],
  ],
  spareSymbols: [inSession("spareSymbols", "a whole number from 0"), 0],
  retainRows: [inSession("retainRows", "a whole number from 0"), 0],
  late: [inSession("late", '"deliver" or "skip"')],
  catchUp: [inSession("catchUp", '"on_demand" or "idle"')],
  budgetMs: [inSession("budgetMs", "a positive number"), 1.5],
  threads: ["E528 threads must be a whole number from 1 to 256, got %\n  try threads: 2"],
  memoryLimit: [
    [
      "E528 & is not a size of memory\n  write e.g. 4GiB or 500MB",
      "E528 % is not a size of memory",
      "E528 a memory limit of % bytes",
    ],
    1.5,
  ],
  memoryThresholds: [recordOf("memoryThresholds"), ...OBJECTS],
  costs: [COST],
  queueMs: ["E528 queueMs must be a number from 0 to 1000, got *\n  leave it out", 0, 1.5],
  hang: [recordOf("hang"), ...OBJECTS],
  limitMs: ["E528 hang.limitMs is %\n  give a positive number of ms, or hang: false", 1.5],
  target: [`E528 memoryThresholds.target${SHARE}`, 0, 1.5],
  spill: [`E528 memoryThresholds.spill${SHARE}`, 0, 1.5],
  pause: [`E528 memoryThresholds.pause${SHARE}`, 0, 1.5],
  refuse: [`E528 memoryThresholds.refuse${SHARE}`, 0, 1.5],
  rows: [
    "E528 the option rows takes rows { first, end } from 0 to 1, got &\n  leave it out to read all rows",
    null,
  ],
  tls: [[...recordOf("tls"), "E528 certificates are given, and tcp://127.0.0.1:1 uses none"]],
  python: [ofCluster("python", NOT_EMPTY), "a string"],
  node: [ofCluster("node", NOT_EMPTY), "a string"],
  timeoutSeconds: [ofCluster("timeoutSeconds", SECONDS), 1.5],
  taskTimeoutSeconds: [ofCluster("taskTimeoutSeconds", SECONDS), 1.5],
  workers: [ofCluster("workers", 'give a list of at least one name, e.g. ["host1"]')],
  resources: [ofCluster("resources", "give numbers from 0 by name, e.g. { GPU: 1 }"), ...OBJECTS],
  slabRows: [ofCluster("slabRows", COUNT)],
};

function isSaid(template: string, message: string, value: unknown, called: string): boolean {
  const said = { "%": shownValue(value), "&": called } as Record<string, string>;
  const parts = template
    .split(/([%&*])/)
    .map((part) => (part === "*" ? ".+" : RegExp.escape(said[part] ?? part)));
  return new RegExp(`^${parts.join("")}`).test(message);
}

const options = Object.entries(CALLS).flatMap(([callee, [kinds, call]]) =>
  Object.entries(kinds).map(([option, kind]) => ({ callee, option, kind, call })),
);
const isOwn = ({ refuse, takesNull }: ArgumentKind) => refuse !== undefined || takesNull === true;
const hasWords = ({ callee, option, kind }: (typeof options)[number]) =>
  isOwn(kind) ||
  /priorities|memoryLimitBytes|restarts/.test(option) ||
  `${callee}.${option}` === "openSession.time";
const ofAKind = options.flatMap((one) => (hasWords(one) ? [] : [{ ...one, ...one.kind }]));
const withWords = options.filter(hasWords);

test.each(ofAKind)("$callee takes as $option $what", async ({ option, call, what, fits, remedy }) => {
  const isTaken = (value: unknown, called: string) => TAKEN_AT_MOST[what]!.includes(called) && fits(value);
  for (const [value, called] of WRONG_VALUES.filter((one) => one[0] !== null && !isTaken(...one)))
    expect(await errorOf(() => call({ [option]: value }))).toMatchObject({
      name: "UsageError",
      code: "E528",
      problem: expect.stringContaining(`the option ${option} takes ${what}, got ${called}`),
      remedy: called === "a promise" ? `await it: ${remedy}` : remedy,
    });
});

test.each(withWords)("$callee has words of its own for $option", async ({ callee, option, call }) => {
  const [says, ...taken] = WORDS[`${callee}.${option}`] ?? WORDS[option]!;
  for (const [value, called] of WRONG_VALUES) {
    if (taken.some((one) => one === called || isDeepStrictEqual(one, value))) continue;
    const error = await errorOf(() => call({ [option]: value }));
    expect(error, called).toBeInstanceOf(FactorloomError);
    const message = error!.message.replace("\n  await it: ", "\n  ");
    const isOneOf = [says].flat().some((template) => isSaid(template, message, value, called));
    expect(isOneOf, `${called}: ${message}`).toBe(true);
  }
});

const TAKEN_WHOLE = Object.keys(CALLS).filter(
  (name) => !/^(why|whyRows|openSession|blocks|Cluster.connect)$/.test(name),
);

test.each(TAKEN_WHOLE)("%s takes an object of options, and nothing else", async (callee) => {
  const [kinds, call] = CALLS[callee]!;
  for (const [value, called] of WRONG_VALUES.filter(([, name]) => !/^an object$|URL/.test(name)))
    expect(await errorOf(() => call(value as object)), called).toMatchObject({
      name: "UsageError",
      code: "E528",
      problem: expect.stringContaining(`${callee} takes an object of options, got ${called}`),
      remedy: expect.stringContaining(`options of ${callee}: ${Object.keys(kinds)[0]}`),
    });
});

describe.each(Object.keys(CALLS))("%s", (callee) => {
  const [kinds, call, needed] = CALLS[callee]!;
  const names = Object.keys(kinds);

  test("takes null like nothing where a kind says no more", async () => {
    const none = Object.fromEntries(
      names.filter((name) => !isOwn(kinds[name]!) && !kinds[name]!.isRequired).map((name) => [name, null]),
    );
    const [usual, found] = [
      await errorOf(() => call({ ...needed })),
      await errorOf(() => call({ ...none, ...needed })),
    ];
    expect(found?.message).toBe(usual?.message);
  });

  test("refuses a name that is mistyped, with the name that is meant", async () => {
    const random = new Seeded();
    for (const name of names) {
      const at = random.below(name.length);
      const mistyped = `${name.slice(0, at)}${name[at]}${name.slice(at)}`;
      expect(await errorOf(() => call({ [mistyped]: 1 })), `seed ${random.seed}`).toMatchObject({
        name: "UsageError",
        code: "E527",
        problem: expect.stringMatching(`(: |^)unknown option ${mistyped} of ${callee}$`),
        remedy: `did you mean ${name}?`,
      });
    }
  });
});
