import type { Panel } from "../../src/panel.ts";
import type { FactorName } from "./factors.ts";

/** Another program that computes the same factors. */
export interface Peer {
  readonly name: string;
  /** Factors that it computes from running sums whose rounding shows. */
  readonly runningSums: readonly FactorName[];
  /**
   * Loads the panel, computes the factors once for their values, then `runs` times for the time they take.
   *
   * @throws MissingPeer if it is not installed.
   */
  measure(panel: Panel, factors: readonly FactorName[], runs: number): Promise<PeerRun>;
}

/** What a peer has done; disposing it gives its memory and files back. */
export interface PeerRun extends AsyncDisposable {
  readonly version: string;
  /** Threads that it uses by default. */
  readonly threads: number;
  /** Of each run: all factors, from data in the peer's memory to results in the peer's memory. */
  readonly wallMs: readonly number[];
  /** Values of a factor `[rows x lanes]`; NaN is null. */
  values(factor: FactorName): Promise<Float64Array>;
}

/** A peer is not installed here; the message says what to do. */
export class MissingPeer extends Error {}

/** Brings values of a table that is ordered by lane, then row, into the panel's order. */
export function rowsByLanes(
  values: Float64Array,
  { rowCount, laneCount }: Pick<Panel, "rowCount" | "laneCount">,
): Float64Array {
  const turned = new Float64Array(values.length);
  for (let lane = 0; lane < laneCount; lane++) {
    for (let row = 0; row < rowCount; row++) turned[row * laneCount + lane] = values[lane * rowCount + row]!;
  }
  return turned;
}

/** The reverse of `rowsByLanes`. */
export function lanesByRows(
  values: Float64Array,
  { rowCount, laneCount }: Pick<Panel, "rowCount" | "laneCount">,
): Float64Array {
  return rowsByLanes(values, { rowCount: laneCount, laneCount: rowCount });
}
