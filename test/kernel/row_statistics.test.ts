import { afterEach, describe, expect, test, vi } from "vitest";
import { operator as csMad } from "../../operators/cross_section/cs_mad.ts";
import { operator as csSum } from "../../operators/cross_section/cs_sum.ts";
import { operator as normalize } from "../../operators/cross_section/normalize.ts";
import { operator as rank } from "../../operators/cross_section/rank.ts";
import { operator as scale } from "../../operators/cross_section/scale.ts";
import { operator as scaleDown } from "../../operators/cross_section/scale_down.ts";
import { operator as winsorize } from "../../operators/cross_section/winsorize.ts";
import { operator as zscore } from "../../operators/cross_section/zscore.ts";
import { operator as groupCount } from "../../operators/group/group_count.ts";
import { operator as groupMax } from "../../operators/group/group_max.ts";
import { operator as groupMean } from "../../operators/group/group_mean.ts";
import { operator as groupMin } from "../../operators/group/group_min.ts";
import { operator as groupNeutralize } from "../../operators/group/group_neutralize.ts";
import { operator as groupNormalize } from "../../operators/group/group_normalize.ts";
import { operator as groupRank } from "../../operators/group/group_rank.ts";
import { operator as groupScale } from "../../operators/group/group_scale.ts";
import { operator as groupStd } from "../../operators/group/group_std.ts";
import { operator as groupSum } from "../../operators/group/group_sum.ts";
import { operator as groupZscore } from "../../operators/group/group_zscore.ts";
import { HostRows } from "../../src/kernel/fallback/host_rows.ts";
import type { Operator } from "../../src/operator/definition.ts";
import { hashed } from "../conformance/awkward_series.ts";
import { bitsOf } from "../support/bits.ts";
import { cases } from "../support/trials.ts";
import { applyOperator, groupOf } from "./small_panel.ts";

interface Statistic {
  readonly operator: Operator;
  readonly settings?: Readonly<Record<string, number>>;
}

const ofRows: Record<string, Statistic> = {
  scale: { operator: scale, settings: { a: 1 } },
  "scale to a third": { operator: scale, settings: { a: 1 / 3 } },
  "scale to 0": { operator: scale, settings: { a: 0 } },
  "scale to more than the code takes": { operator: scale, settings: { a: 1e200 } },
  normalize: { operator: normalize, settings: { use_std: 0, limit: 0 } },
  "normalize with a limit": { operator: normalize, settings: { use_std: 0, limit: 0.5 } },
  "normalize by the deviation": { operator: normalize, settings: { use_std: 1, limit: 1 } },
  zscore: { operator: zscore },
  cs_sum: { operator: csSum },
  scale_down: { operator: scaleDown, settings: { constant: 0 } },
  "scale_down with a constant": { operator: scaleDown, settings: { constant: 0.5 } },
  rank: { operator: rank },
  winsorize: { operator: winsorize, settings: { std: 1 } },
  "winsorize to the mean": { operator: winsorize, settings: { std: 0 } },
  "winsorize to less than the code takes": { operator: winsorize, settings: { std: -1 } },
  "winsorize to more than the code takes": { operator: winsorize, settings: { std: 1e30 } },
  cs_mad: { operator: csMad, settings: { n: 1, k: 1.4826 } },
  "cs_mad to whole distances": { operator: csMad, settings: { n: 3, k: 1 } },
  "cs_mad to a fraction of the distance": { operator: csMad, settings: { n: 0.5, k: 1.4826 } },
  "cs_mad to the median": { operator: csMad, settings: { n: 0, k: 1.4826 } },
  "cs_mad to less than the code takes": { operator: csMad, settings: { n: -1, k: 1 } },
  "cs_mad to more than the code takes": { operator: csMad, settings: { n: 1e30, k: 1 } },
};

const ofGroups: Record<string, Statistic> = {
  group_neutralize: { operator: groupNeutralize },
  group_mean: { operator: groupMean },
  group_sum: { operator: groupSum },
  group_count: { operator: groupCount },
  group_rank: { operator: groupRank },
  group_zscore: { operator: groupZscore },
  group_scale: { operator: groupScale },
  group_std: { operator: groupStd },
  group_max: { operator: groupMax },
  group_min: { operator: groupMin },
  group_normalize: { operator: groupNormalize, settings: { scale: 1 } },
};

type Row = (lane: number, lanes: number) => number;

const noise = (lane: number, seed = 1) => hashed(seed, lane) - 0.5;
const price = (lane: number) => Math.round(2000 + 8000 * hashed(3, lane)) / 100;

/** Rows that the code must compute itself. */
const usual: Record<string, Row> = {
  prices: price,
  returns: (lane) => noise(lane) / 25,
  "whole numbers": (lane) => Math.round(1e6 * noise(lane)),
  "prices with nulls": (lane) => (lane % 5 === 1 ? NaN : price(lane)),
  "magnitudes from 2^-40 to 2^40": (lane) => noise(lane) * 2 ** (80 * noise(lane, 2)),
  "a spike of 1e15": (lane, lanes) => (lane === lanes - 1 ? 1e15 : noise(lane)),
  "large with a little noise": (lane) => 1e9 + noise(lane),
  "many ties": (lane) => Math.floor(6 * hashed(4, lane)) / 8,
};

/** Rows that the code may leave to the reference. */
const unusual: Record<string, Row> = {
  "all null": () => NaN,
  "one value": (lane) => (lane === 0 ? 0.1 : NaN),
  "two values": (lane) => (lane < 2 ? lane + 0.1 : NaN),
  "all equal": () => 0.1,
  zeros: () => 0,
  "zeros of both signs": (lane) => (lane % 2 ? -0 : 0),
  "zeros below 0 alone": () => -0,
  "a sum that cancels": (lane, lanes) => (lane === lanes - 1 && lanes % 2 ? -0 : lane % 2 ? -0.7 : 0.7),
  "spikes that cancel": (lane) => [1e15, 0.1, -1e15, 0.3][lane % 4]!,
  "1e17, 1, -1e17": (lane) => [1e17, 1, -1e17][lane % 3]!,
  "an infinity": (lane) => (lane === 0 ? Infinity : noise(lane)),
  "infinities of both signs": (lane) => [Infinity, 1, -Infinity, NaN][lane % 4]!,
  "infinities alone": () => -Infinity,
  subnormal: (lane) => Math.round(9 * noise(lane)) * Number.MIN_VALUE,
  "one subnormal": (lane) => (lane === 0 ? -Number.MIN_VALUE : noise(lane)),
  "one subnormal among whole numbers": (lane) => (lane === 0 ? Number.MIN_VALUE : lane),
  "next to the least normal": (lane) => 1e-308 * noise(lane),
  "next to overflow": (lane) => 1.7e308 * 2 * noise(lane),
  "2^300 and below": (lane) => 2 ** (300 - (lane % 3)),
  "2^-300 and below": (lane) => 2 ** (-300 - (lane % 3)),
  "powers from 2^-500 to 2^500": (lane) => 2 ** Math.round(1000 * noise(lane)),
  "neighbouring doubles": (lane) => 1 + (lane % 5) * 2 ** -52,
  "half of an ulp apart": (lane) => [1, 2 ** -53, 2 ** -106, -1][lane % 4]!,
};

const groupings: Record<string, (lane: number) => number> = {
  "one group": () => 0,
  "every lane in a group of its own": (lane) => lane,
  "three groups": (lane) => lane % 3,
  "two groups and lanes without one": (lane) => (lane % 4) - 1,
  "no lane in a group": () => -1,
  "groups of two": (lane) => lane >> 1,
  "codes far apart": (lane) => 500 * (lane % 2),
  "codes too large for the code": (lane) => 5000 * (lane % 3),
};

const LANE_COUNTS = [1, 2, 3, 4, 5, 8, 31, 64, 257];
const OF_GROUPS = cases([1, 2, 5, 31, 257], LANE_COUNTS);

/** The rows as one panel, and the operator's results. */
function results(
  { operator, settings }: Statistic,
  rows: readonly Row[],
  laneCount: number,
  codeOf?: (lane: number) => number,
) {
  const lanes = Array.from({ length: laneCount }, (_, lane) => lane);
  const operands = [Float64Array.from(rows.flatMap((row) => lanes.map((lane) => row(lane, laneCount))))];
  const group = codeOf ? groupOf(lanes.map(codeOf), false) : undefined;
  const application = { operator, settings: settings ?? {}, rowCount: rows.length, laneCount, operands };
  return (reference: boolean) =>
    applyOperator({ ...application, ...(group ? { group } : {}), reference, blockRows: 4 });
}

function expectReferenceBits(
  statistic: Statistic,
  rows: Readonly<Record<string, Row>>,
  laneCount: number,
  codeOf?: (lane: number) => number,
): void {
  const run = results(statistic, Object.values(rows), laneCount, codeOf);
  const [expected, actual] = [bitsOf(run(true)), bitsOf(run(false))];
  Object.keys(rows).forEach((name, row) => {
    const cut = (bits: BigUint64Array) => bits.slice(row * laneCount, (row + 1) * laneCount);
    expect(cut(actual), `${name}, ${laneCount} lanes`).toEqual(cut(expected));
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("statistics of a row have the bits of the reference", () => {
  test.each(Object.entries(ofRows))("%s", (_, statistic) => {
    for (const lanes of LANE_COUNTS) expectReferenceBits(statistic, { ...usual, ...unusual }, lanes);
  });
});

describe.each(Object.entries(groupings))("statistics of groups have them: %s", (_, codeOf) => {
  test.each(Object.entries(ofGroups))("%s", (_name, statistic) => {
    for (const lanes of OF_GROUPS) expectReferenceBits(statistic, { ...usual, ...unusual }, lanes, codeOf);
  });
});

describe("usual rows need no reference", () => {
  const byReference = () => [vi.spyOn(HostRows.prototype, "run"), vi.spyOn(HostRows.prototype, "runSegment")];
  const expectNone = (statistic: Statistic, codeOf?: (lane: number) => number) => {
    const calls = byReference();
    for (const lanes of [64, 256, 257, 300]) {
      for (const row of Object.values(usual)) results(statistic, [row], lanes, codeOf)(false);
    }
    for (const call of calls) expect(call).not.toHaveBeenCalled();
  };
  const withCode = Object.entries(ofRows).filter(([name]) => !/the code takes|with a constant/.test(name));

  test.each(withCode)("%s", (_, statistic) => expectNone(statistic));
  test.each(Object.entries(ofGroups))("%s", (_, statistic) => expectNone(statistic, (lane) => lane % 11));

  test("a group with an infinity leaves the others to the code", () => {
    const [rows, segments] = byReference();
    const row = (lane: number) => (lane === 7 ? Infinity : noise(lane));
    results(ofGroups["group_neutralize"]!, [row], 64, (lane) => lane % 8)(false);
    expect(rows).not.toHaveBeenCalled();
    expect(segments).toHaveBeenCalledTimes(1);
  });
});

describe("groups that change over time", () => {
  const laneCount = 13;
  const rowCount = 24;
  // Rows of codes that stay, change in one lane, and come back.
  const codes = Array.from({ length: rowCount * laneCount }, (_, i) => {
    const [row, lane] = [Math.floor(i / laneCount), i % laneCount];
    const phase = Math.floor(row / 3) % 4;
    if (phase === 1 && lane === laneCount - 1) return -1;
    if (phase === 2) return lane >> 2;
    return phase === 3 ? -1 : lane % 3;
  });
  const operands = [Float64Array.from(codes, (_, i) => (i % 10 === 3 ? NaN : noise(i)))];
  const group = groupOf(codes, true);

  test.each(Object.entries(ofGroups))("%s", (_, { operator, settings = {} }) => {
    const application = { operator, settings, rowCount, laneCount, operands, group };
    const expected = bitsOf(applyOperator({ ...application, reference: true }));
    for (const cut of [{ blockRows: 1 }, { blockRows: 5, partCount: 3 }, { blockRows: 7, repeats: 2 }]) {
      expect(bitsOf(applyOperator({ ...application, ...cut }))).toEqual(expected);
    }
  });
});
