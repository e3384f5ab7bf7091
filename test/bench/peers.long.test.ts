import { describe, expect, test } from "vitest";
import { peersText } from "../../bench/commands/peers.ts";
import { agreementOf, agrees } from "../../bench/peers/agreement.ts";
import { FACTORS, type PeerFactor } from "../../bench/peers/factors.ts";
import { measurePeers, PEERS, type PeerFigures } from "../../bench/peers/measure_peers.ts";
import { pandasPeer } from "../../bench/peers/pandas_peer.ts";
import { lanesByRows, rowsByLanes } from "../../bench/peers/peer.ts";
import { hasPandas } from "../support/needs.ts";
import { runBench } from "./run_bench.ts";

const SIZE = { lanes: 23, rows: 90 };
const NAMES = FACTORS.map(({ name }) => name);

/** The formulas with some replaced by wrong ones. */
function wrong(formulas: Partial<Record<PeerFactor["name"], string>>): PeerFactor[] {
  return FACTORS.filter(({ name }) => name in formulas || name === "roc60").map((factor) => ({
    ...factor,
    formula: formulas[factor.name] ?? factor.formula,
  }));
}

const withPandas = await hasPandas();

describe.each(PEERS)("$name", (peer) => {
  test.runIf(withPandas || peer.name !== "pandas")(
    "computes the same values and nulls; wrong formulas are reported",
    async () => {
      const measured = await measurePeers({ ...SIZE, runs: 1, peers: [peer] });
      const figures = measured.peers[0] as PeerFigures;
      expect(figures.agreements.map(({ factor }) => factor)).toEqual(NAMES);
      expect(figures.agreements.filter((agreement) => !agrees(agreement))).toEqual([]);
      expect(measured.agree).toBe(true);
      expect(figures.ratio).toBe(figures.wallMs / figures.oursMs);

      const factors = wrong({
        alpha006: "-1 * correlation(open, volume, 9)",
        alpha042: "rank(close - vwap) / rank(vwap + close)",
        std20: "stddev(close, 20) / close + 1e-8",
        vma60: "(sum(volume, 60) / 60) / (delay(volume, 1) + 1e-12)",
      });
      const mistaken = await measurePeers({ ...SIZE, runs: 1, peers: [peer], factors });
      const { agreements } = mistaken.peers[0] as PeerFigures;
      expect(agreements.filter(agrees).map(({ factor }) => factor)).toEqual(["roc60"]);
      expect(agreements.map(({ nullsDiffer }) => nullsDiffer > 0)).toEqual([
        true,
        false,
        false,
        false,
        false,
      ]);
      expect(agreements.map(({ valuesDiffer }) => valuesDiffer > 0)).toEqual([true, true, false, true, true]);
      expect(mistaken.agree).toBe(false);
      expect(peersText(mistaken)).toMatch(
        new RegExp(
          `^${peer.name} DISAGREES in std20: \\d+ of .* the first in row \\d+, lane \\d+: ours `,
          "m",
        ),
      );
    },
  );
});

test("a peer that is missing is reported with what to install, and the others are measured", async () => {
  const peers = [pandasPeer("/nowhere/python3"), ...PEERS.filter(({ name }) => name === "duckdb")];
  const measured = await measurePeers({ ...SIZE, runs: 1, peers, factors: wrong({}) });
  const missing = "/nowhere/python3 has no pandas: install it with `apt-get install python3-pandas`";
  expect(measured.peers).toMatchObject([{ peer: "pandas", missing }, { peer: "duckdb" }]);
  expect(measured.agree).toBe(true);
  expect(peersText(measured)).toContain(`\npandas is missing: ${missing}`);
});

describe("the command", () => {
  test.runIf(withPandas)("finds its scripts and prints a line for each peer", async () => {
    const args = ["peers", "--lanes", "11", "--rows", "40", "--select", "std20,alpha101", "--json"];
    const { exitCode, stdout, stderr } = await runBench(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { peers, factors, agree } = JSON.parse(stdout);
    expect(peers.map(({ peer }: PeerFigures) => peer)).toEqual(["pandas", "polars", "duckdb"]);
    expect({ factors, agree }).toEqual({ factors: ["alpha101", "std20"], agree: true });
  });

  test("refuses names that it does not know, and fails where there is nothing to compare", async () => {
    const unknown = await runBench(["peers", "--peers", "polar"]);
    expect(unknown).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("no peer polar; there are pandas, polars, duckdb"),
    });
    const short = ["--lanes", "3", "--rows", "50", "--select", "roc60", "--peers", "duckdb"];
    const { exitCode, stdout } = await runBench(["peers", ...short]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain("duckdb cannot be compared in roc60: no value on either side");
  });
});

describe("agreement", () => {
  const column = (...values: number[]) => Float64Array.from(values);
  const NULL = Number.NaN;

  test("counts nulls that differ; an infinity is a null", () => {
    const ours = column(1, NULL, NULL, 4, NULL);
    const theirs = column(1, NULL, 3, NULL, Number.POSITIVE_INFINITY);
    expect(agreementOf("x", ours, theirs)).toMatchObject({
      compared: 1,
      nullsDiffer: 2,
      valuesDiffer: 0,
      first: { cell: 2, ours: NULL, theirs: 3 },
    });
  });

  test("measures by the value, or by the factor's size where that is larger", () => {
    const ours = column(1000, 1, 1, 1, 1e-9);
    const by = (...theirs: number[]) => agreementOf("x", ours, column(...theirs));
    expect(by(1000 + 5e-7, 1, 1, 1, 1.5e-9).valuesDiffer).toBe(0);
    expect(by(1000 + 5e-6, 1, 1, 1, 1e-9)).toMatchObject({ valuesDiffer: 1, first: { cell: 0 } });
    expect(by(1000, 1, 1 + 2e-9, 1, 1e-9)).toMatchObject({ valuesDiffer: 1, first: { cell: 2 } });
    expect(by(1000, 1, 1, 1, 3e-9)).toMatchObject({ valuesDiffer: 1, first: { cell: 4 } });
    expect(by(1000, 1, 1, 1, 1.5e-9).deviationMax).toBeCloseTo(0.5e-9, 15);
  });

  test("lets running sums round, and tells how often and how much", () => {
    const [ours, theirs] = [column(1, 1, 1), column(1, 1 + 1e-8, 1 + 1e-5)];
    const allowed = agreementOf("x", ours, theirs, 1e-6);
    expect(allowed).toMatchObject({ rounded: 1, valuesDiffer: 1, first: { cell: 2 } });
    expect(agreementOf("x", ours, theirs)).toMatchObject({ rounded: 0, valuesDiffer: 2, first: { cell: 1 } });
  });

  test("needs something to compare", () => {
    expect(agrees(agreementOf("x", column(NULL), column(NULL)))).toBe(false);
    expect(agrees(agreementOf("x", column(0), column(-0)))).toBe(true);
  });
});

test("values by rows and values by lanes are each other's reverse", () => {
  const panel = { rowCount: 2, laneCount: 3 };
  const byRows = Float64Array.of(0, 1, 2, 10, 11, 12);
  expect([...lanesByRows(byRows, panel)]).toEqual([0, 10, 1, 11, 2, 12]);
  expect(rowsByLanes(lanesByRows(byRows, panel), panel)).toEqual(byRows);
});
