import { availableParallelism } from "node:os";
import { machine, median } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { compile } from "../../src/compile.ts";
import { Engine } from "../../src/engine.ts";
import type { Panel } from "../../src/panel.ts";
import { type Agreement, agreementOf, agrees, RUNNING_SUM_TOLERANCE } from "./agreement.ts";
import { DUCKDB_PEER } from "./duckdb_peer.ts";
import { FACTORS, type FactorName, formulaText, type PeerFactor } from "./factors.ts";
import { pandasPeer } from "./pandas_peer.ts";
import { MissingPeer, type Peer, type PeerRun } from "./peer.ts";
import { POLARS_PEER } from "./polars_peer.ts";

export const PEERS: readonly Peer[] = [pandasPeer(), POLARS_PEER, DUCKDB_PEER];

export interface PeersOptions {
  readonly lanes: number;
  readonly rows: number;
  readonly factors?: readonly PeerFactor[];
  readonly peers?: readonly Peer[];
  readonly runs?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** A peer beside us: the same factors over the same panel, one after the other. Times are wall times in ms. */
export interface PeerFigures {
  readonly peer: string;
  readonly version: string;
  /** Threads that the peer uses by itself. */
  readonly threads: number;
  /** Median of the runs. */
  readonly wallMs: number;
  /** Ours, measured right after it. */
  readonly oursMs: number;
  /** Its time by ours. */
  readonly ratio: number;
  /** By factor. */
  readonly agreements: readonly Agreement[];
}

export interface AbsentPeer {
  readonly peer: string;
  /** Why, and what to install. */
  readonly missing: string;
}

export interface PeersResult {
  readonly lanes: number;
  readonly rows: number;
  readonly runs: number;
  readonly nullShare: number;
  readonly factors: readonly string[];
  /** Threads of ours: as many as an engine takes by default. */
  readonly threads: number;
  readonly cpu: string;
  readonly node: string;
  readonly peers: readonly (PeerFigures | AbsentPeer)[];
  /** Whether every value of every peer that is there agrees with ours. */
  readonly agree: boolean;
}

const NULL_SHARE = 0.01;
const RUNS_DEFAULT = 3;

/**
 * Computes the same factors over the same made-up bars with each peer and with the engine, compares all values and
 * measures both. A run is all factors once, from bars in memory to results in memory; the first is compared, the median
 * of the `runs` that follow is the time. Ours goes from the formulas' text to the Arrow table.
 *
 * @throws ResourceError as the engine, E449 if a peer that is there fails.
 */
export async function measurePeers(options: PeersOptions): Promise<PeersResult> {
  const { lanes, rows, factors = FACTORS, peers = PEERS, runs = RUNS_DEFAULT } = options;
  const bars = syntheticPanel({ lanes, rows, nullShare: NULL_SHARE });
  // Peers have a row for every instrument and time; so that ours is compared in all of them, none counts as absent.
  const panel = { ...bars, present: new Uint8Array(rows * lanes).fill(1) };
  const threads = availableParallelism();
  await using engine = await Engine.start({ threads });
  const results: (PeerFigures | AbsentPeer)[] = [];
  for (const [index, peer] of peers.entries()) {
    results.push(await besidePeer(engine, panel, factors, peer, runs));
    options.onProgress?.(index + 1, peers.length);
  }
  const { cpu, node } = machine();
  return {
    lanes,
    rows,
    runs,
    nullShare: NULL_SHARE,
    factors: factors.map(({ name }) => name),
    threads,
    cpu,
    node,
    peers: results,
    agree: results.every((result) => "missing" in result || result.agreements.every(agrees)),
  };
}

async function besidePeer(
  engine: Engine,
  panel: Panel,
  factors: readonly PeerFactor[],
  peer: Peer,
  runs: number,
): Promise<PeerFigures | AbsentPeer> {
  const names = factors.map(({ name }) => name);
  try {
    await using theirs = await peer.measure(panel, names, runs);
    const ours = await measureOurs(engine, panel, factors, runs);
    const wallMs = median(theirs.wallMs);
    const oursMs = median(ours.wallMs);
    return {
      peer: peer.name,
      version: theirs.version,
      threads: theirs.threads,
      wallMs,
      oursMs,
      ratio: wallMs / oursMs,
      agreements: await agreementsWith(peer, theirs, ours, names),
    };
  } catch (error) {
    if (error instanceof MissingPeer) return { peer: peer.name, missing: error.message };
    throw error;
  }
}

interface OurRun {
  readonly wallMs: readonly number[];
  /** Values of a factor `[rows x lanes]`; NaN is null. */
  readonly values: (factor: string) => Float64Array;
}

async function measureOurs(
  engine: Engine,
  panel: Panel,
  factors: readonly PeerFactor[],
  runs: number,
): Promise<OurRun> {
  const text = formulaText(factors);
  const evaluate = () => engine.evaluate(compile(text, { file: "peers.factors" }), panel);
  const { batches } = (await evaluate()).table;
  const wallMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    const started = performance.now();
    await evaluate();
    wallMs.push(performance.now() - started);
  }
  const values = (factor: string) => {
    const column = new Float64Array(panel.rowCount * panel.laneCount);
    let cell = 0;
    for (const batch of batches)
      for (const value of batch.getChild(factor)!) column[cell++] = value ?? Number.NaN;
    return column;
  };
  return { wallMs, values };
}

async function agreementsWith(
  { runningSums }: Peer,
  theirs: PeerRun,
  ours: OurRun,
  names: readonly FactorName[],
): Promise<Agreement[]> {
  const agreements: Agreement[] = [];
  for (const name of names) {
    const tolerance = runningSums.includes(name) ? RUNNING_SUM_TOLERANCE : undefined;
    agreements.push(agreementOf(name, ours.values(name), await theirs.values(name), tolerance));
  }
  return agreements;
}
