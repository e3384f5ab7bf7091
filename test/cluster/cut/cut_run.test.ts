import { expect, test } from "vitest";
import { cutRun } from "../../../src/cluster/cut/cut_run.ts";
import { type DrawnSpec, specOf } from "./cut_specs.ts";

const MIB = 2 ** 20;
const ENDLESS = Number.POSITIVE_INFINITY;
const held = { valueBytes: 64 * MIB, aheadBytes: 256 * MIB };
/** Outputs that share most of their work. */
const sharing = { rowNs: 1e4, sharedNs: 1e5 };
/** One of five looks back further, and costs as much as each of the others. */
const oneFurther = { end: 10_000, lookbacks: [5, 5, 5, 5, 100], rowNs: 1e4 };

/** Slabs as their lengths, then rows of chunks, then shares: the outputs, and the rows before a slab. */
type Expected = readonly [
  lengths: readonly number[],
  chunkRows: number,
  shares: Record<string, number | null>,
];

const CASES: readonly [what: string, spec: DrawnSpec, expected: Expected][] = [
  ["one thread", { threadCount: 1, lookbacks: [0, 20], ...sharing }, [[1000], 1000, { "0,1": 20 }]],
  ["finite lookback", { lookbacks: [5, 20], ...sharing, held }, [[250, 250, 250, 250], 250, { "0,1": 20 }]],
  [
    "the first slab of a dataset, which has no rows before, is longer",
    { lookbacks: [5, 20], ...sharing },
    [[262, 246, 246, 246], 262, { "0,1": 20 }],
  ],
  [
    "a long lookback, apart: results go to the client",
    { ...oneFurther, held },
    [[2500, 2500, 2500, 2500], 2500, { "0,1,2,3": 5, 4: 100 }],
  ],
  [
    "a long lookback, not apart: files of columns cost more",
    oneFurther,
    [[2560, 2480, 2480, 2480], 2560, { "0,1,2,3,4": 100 }],
  ],
  [
    "a window of 60,480 rows over slabs of 1,920 goes over all rows",
    { end: 61_440, threadCount: 32, lookbacks: [10, 60_480], held },
    [new Array<number>(32).fill(1920), 1920, { 1: null, 0: 10 }],
  ],
  [
    "factors without end beside finite ones: histories are as many as keep threads busy",
    { lookbacks: [5, ENDLESS, 10, ENDLESS], ...sharing, held },
    [[250, 250, 250, 250], 250, { 1: null, 3: null, "0,2": 10 }],
  ],
  [
    "memory that divides",
    { lookbacks: [5, 6, 7, 8, 9], ...sharing, outputsMax: 2, held },
    [[250, 250, 250, 250], 250, { "0,1": 6, "2,3": 8, 4: 9 }],
  ],
  [
    "a value above its limit shortens slabs",
    { end: 10_000, lookbacks: [5], held: { valueBytes: MIB, aheadBytes: 64 * MIB } },
    [[...new Array<number>(11).fill(834), 826], 834, { 0: 5 }],
  ],
  [
    "what the client requests ahead, a slab for each thread and one more, shortens slabs",
    { end: 10_000, lookbacks: [5], held: { valueBytes: 64 * MIB, aheadBytes: 5 * MIB } },
    [[...new Array<number>(11).fill(834), 826], 834, { 0: 5 }],
  ],
  ["rows that the user prescribes", { lookbacks: [5], slabRows: 300 }, [[300, 300, 300, 100], 300, { 0: 5 }]],
  ["more of them than there are", { lookbacks: [5], slabRows: 3000, held }, [[1000], 1000, { 0: 5 }]],
  [
    "output from the middle, where there are rows before",
    { first: 500, lookbacks: [5, 30], ...sharing },
    [[125, 125, 125, 125], 125, { "0,1": 30 }],
  ],
  [
    "output from the middle: over all rows is as long as one slab's warm-up",
    { first: 900, lookbacks: [950], threadCount: 2, held },
    [[50, 50], 50, { 0: null }],
  ],
  ["no output", { lookbacks: [] }, [[250, 250, 250, 250], 250, { "": 0 }]],
  ["no rows", { first: 1000, lookbacks: [5, ENDLESS], held }, [[], 1, { 1: null, 0: 5 }]],
  [
    "rows that do not travel at a time",
    { threadCount: 1, laneCount: 10_000, lookbacks: [5] },
    [[1000], Math.floor((32 * MIB) / (10_000 * 9)), { 0: 5 }],
  ],
];

test.for(CASES)("%s", ([, drawn, [lengths, chunkRows, shares]]) => {
  const cut = cutRun(specOf(drawn));
  const { slabRows } = cut;
  expect(slabRows[0]).toBe(drawn.first ?? 0);
  expect(slabRows.slice(1).map((end, slab) => end - slabRows[slab]!)).toEqual(lengths);
  expect(cut.chunkRows).toBe(chunkRows);
  const found = cut.shares.map(({ outputs, warmUpRows }) => [outputs.join(), warmUpRows] as const);
  expect(Object.fromEntries(found)).toEqual(shares);
});

test("histories are divided where a worker does not hold their results", () => {
  const lookbacks = new Array<number>(6).fill(ENDLESS);
  const few = { valueBytes: 2 * 900_000, aheadBytes: 256 * MIB };
  const { shares } = cutRun(specOf({ lookbacks, threadCount: 1, held: few }));
  expect(shares.map(({ outputs }) => outputs.length)).toEqual([2, 1, 2, 1]);
});

test("one factor without end that no worker can hold: E639; with a dataset it is possible", () => {
  const spec = { lookbacks: [5, ENDLESS], laneCount: 10_000, end: 10_000 };
  expect(() => cutRun(specOf({ ...spec, held }))).toThrow(
    /^E639 a factor that looks back without end takes 858\.3 MiB over all rows, and a worker holds 64\.0 MiB of results/,
  );
  expect(cutRun(specOf(spec)).shares).toHaveLength(2);
});
