import { expect, test } from "vitest";
import type { FactorBlock } from "../../src/data/factors/factor_batches.ts";
import { type Findings, isBroken, RunComparison, type UsualValues } from "../../src/verify/comparison.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

/** A run that gives less than the usual one, or something at another place, breaks a promise. */

const TRIALS = trials(2_000, 20_000);
const random = new Seeded();

/** Values, nulls among them, of which some cells are not there. Every row has a symbol, each time is one. */
function someValues(): UsualValues {
  const [rowCount, laneCount] = [1 + random.below(12), 1 + random.below(4)];
  const cells = rowCount * laneCount;
  const column = () =>
    Float64Array.from({ length: cells }, () => (random.below(3) === 0 ? Number.NaN : random.below(5)));
  const present = Uint8Array.from({ length: cells }, (_, cell) =>
    cell % laneCount === 0 || random.below(4) > 0 ? 1 : 0,
  );
  return {
    firstRow: random.below(4),
    laneCount,
    symbols: Array.from({ length: laneCount }, (_, lane) => `S${lane}`),
    timeType: { kind: "integer", bits: 64 },
    times: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(1_000 + 7 * row)),
    present,
    columns: new Map(["a", "b", "c"].slice(random.below(3)).map((name) => [name, column()])),
  };
}

interface Run {
  readonly factors: readonly string[];
  /** Rows of the panel behind the first one. */
  readonly from: number;
  readonly blocks: FactorBlock[];
}

/** The rows of the usual run in blocks of any size, for some of the factors, compared from some row on. */
function someRun({ firstRow, laneCount, times, present, columns }: UsualValues): Run {
  const names = [...columns.keys()];
  const chosen = names.filter(() => random.below(2) === 0);
  const factors = chosen.length > 0 ? chosen : names;
  const blocks: FactorBlock[] = [];
  for (let row = 0; row < times.length; ) {
    const rowCount = 1 + random.below(times.length - row);
    const cut = [row * laneCount, (row + rowCount) * laneCount] as const;
    blocks.push({
      rowCount,
      times: times.slice(row, row + rowCount),
      present: present.slice(...cut),
      columns: new Map(factors.map((name) => [name, columns.get(name)!.slice(...cut)])),
    });
    row += rowCount;
  }
  return { factors, from: firstRow + random.below(times.length), blocks };
}

/** As `Runs` hands blocks over: it looks up the time of the first one, the others follow. */
function compared(usual: UsualValues, { factors, from, blocks }: Run): Findings {
  const comparison = new RunComparison(usual);
  let row: number | null = null;
  for (const block of blocks) {
    row ??= usual.firstRow + usual.times.indexOf(block.times[0]!);
    comparison.addBlock(block, row, () => from);
    row += block.rowCount;
  }
  comparison.endRun(factors, () => from);
  return comparison.findings;
}

type Harm = (run: Run, usual: UsualValues) => Run;

const oneOf = <T>(items: readonly T[]): number => random.below(items.length);

/** One block changed. */
function withBlock(run: Run, at: number, change: (block: FactorBlock) => FactorBlock): Run {
  return { ...run, blocks: run.blocks.map((block, index) => (index === at ? change(block) : block)) };
}

function withoutRow(block: FactorBlock, row: number, laneCount: number): FactorBlock {
  const cells = <T>(column: ArrayLike<T>): T[] =>
    Array.from(column).filter((_, cell) => Math.floor(cell / laneCount) !== row);
  return {
    rowCount: block.rowCount - 1,
    times: BigInt64Array.from([...block.times].filter((_, index) => index !== row)),
    present: Uint8Array.from(cells(block.present)),
    columns: new Map([...block.columns].map(([name, column]) => [name, Float64Array.from(cells(column!))])),
  };
}

/** Each leaves something out, or gives it elsewhere; values of what remains are those of the usual run. */
const HARMS: Readonly<Record<string, Harm>> = {
  "no factor at all": (run) => ({
    ...run,
    blocks: run.blocks.map((block) => ({ ...block, columns: new Map() })),
  }),
  "a factor less": (run) => {
    const gone = run.factors[oneOf(run.factors)]!;
    const rest = ({ columns }: FactorBlock) => new Map([...columns].filter(([name]) => name !== gone));
    return { ...run, blocks: run.blocks.map((block) => ({ ...block, columns: rest(block) })) };
  },
  "a factor less in a block that is compared": (run) => {
    const gone = run.factors[oneOf(run.factors)]!;
    return withBlock(run, run.blocks.length - 1, (block) => ({
      ...block,
      columns: new Map([...block.columns].filter(([name]) => name !== gone)),
    }));
  },
  "no block": (run) => ({ ...run, blocks: [] }),
  "the last block less": (run) => ({ ...run, blocks: run.blocks.slice(0, -1) }),
  "any block less": (run) => {
    const gone = oneOf(run.blocks);
    // Of a run that is compared from its second block on the first may be missing.
    const from = gone === 0 ? 0 : run.from;
    return { ...run, from, blocks: run.blocks.filter((_, index) => index !== gone) };
  },
  "a block twice": (run) => {
    const again = oneOf(run.blocks);
    return {
      ...run,
      blocks: run.blocks.flatMap((block, index) => (index === again ? [block, block] : [block])),
    };
  },
  "a row less": (run, { laneCount }) => {
    const at = oneOf(run.blocks);
    const row = random.below(run.blocks[at]!.rowCount);
    const blocks = withBlock(run, at, (block) => withoutRow(block, row, laneCount)).blocks;
    return { ...run, from: 0, blocks: blocks.filter(({ rowCount }) => rowCount > 0) };
  },
  "a cell that is not there, or one more": (run) =>
    withBlock(run, oneOf(run.blocks), (block) => {
      const present = block.present.slice();
      present[oneOf([...present])]! ^= 1;
      return { ...block, present };
    }),
  "another time": (run) =>
    withBlock(run, oneOf(run.blocks), (block) => {
      const times = block.times.slice();
      times[oneOf([...times])]! += 1n;
      return { ...block, times };
    }),
};

test(`runs that leave something out break a promise: ${TRIALS} trials`, () => {
  const found = new Map<string, number>();
  const names = [...Object.keys(HARMS), "control"];
  let cellCount = 0;
  for (let trial = 0; trial < TRIALS; trial++) {
    const usual = someValues();
    const run = someRun(usual);
    const harm = names[trial % names.length]!;
    const findings = compared(usual, HARMS[harm]?.(run, usual) ?? run);
    const message = `SEED=${random.seed}, trial ${trial}: ${harm}`;
    expect(findings.differences, message).toEqual([]);
    expect(isBroken(findings), message).toBe(harm !== "control");
    if (harm === "control") cellCount += findings.cellCount;
    found.set(harm, (found.get(harm) ?? 0) + 1);
  }
  expect(found.size).toBe(names.length);
  expect(cellCount).toBeGreaterThan(TRIALS / 2);
});
