import type { Command } from "commander";
import { parseNames } from "../../src/cli/terminal/option_values.ts";
import { withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { EXIT_CODES } from "../../src/errors.ts";
import { counted } from "../../src/text/counted.ts";
import type { Agreement } from "../peers/agreement.ts";
import type { PeerFigures, PeersResult } from "../peers/measure_peers.ts";

interface PeersFlags {
  readonly lanes: number;
  readonly rows: number;
  readonly select?: readonly string[];
  readonly peers?: readonly string[];
  readonly json?: true;
}

export function addPeers(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("peers")
    .description("the same factors with pandas, polars and DuckDB: values compared, times beside ours")
    .option("--lanes <count>", "instruments", parseCount, 1000)
    .option("--rows <count>", "times of the panel", parseCount, 500)
    .option("--select <names>", "only these factors, e.g. alpha006,std20", parseNames)
    .option("--peers <names>", "only these, e.g. pandas,duckdb (default: pandas,polars,duckdb)", parseNames)
    .option("--json", "print as JSON")
    .action((flags: PeersFlags, command: Command) => runPeers(flags, command));
}

/** Exit code 1 if values differ, 2 if no peer is installed. */
async function runPeers(
  { select, peers: peerNames, json, ...size }: PeersFlags,
  command: Command,
): Promise<void> {
  const { measurePeers, PEERS } = await import("../peers/measure_peers.ts");
  const { FACTORS } = await import("../peers/factors.ts");
  const factors = chosen(command, "factor", FACTORS, select);
  const peers = chosen(command, "peer", PEERS, peerNames);
  const result = await withProgress("peers", (onProgress) =>
    measurePeers({ ...size, factors, peers, onProgress }),
  );
  print(json ? JSON.stringify(result) : peersText(result));
  if (!result.agree) process.exitCode = EXIT_CODES.input;
  else if (result.peers.every((peer) => "missing" in peer)) process.exitCode = EXIT_CODES.resources;
}

function chosen<T extends { readonly name: string }>(
  command: Command,
  kind: string,
  all: readonly T[],
  wanted: readonly string[] | undefined,
): readonly T[] {
  const names = all.map(({ name }) => name);
  for (const name of wanted ?? []) {
    if (!names.includes(name)) command.error(`error: no ${kind} ${name}; there are ${names.join(", ")}`);
  }
  return wanted ? all.filter(({ name }) => wanted.includes(name)) : all;
}

/** The figures, a peer a line, then what is to be known of each. */
export function peersText(result: PeersResult): string {
  const { factors, lanes, rows, runs, nullShare, threads, cpu, node } = result;
  const measured = result.peers.filter((peer): peer is PeerFigures => !("missing" in peer));
  const lines = measured.map((peer) => {
    const { deviationMax, factor } = worst(peer.agreements);
    const which = deviationMax === 0 ? "none" : `${figure(deviationMax)} in ${factor}`;
    const { wallMs, oursMs, ratio } = peer;
    const name = `${peer.peer} ${peer.version}`;
    return [name, peer.threads, peer.agreements.length, figure(wallMs), figure(oursMs), figure(ratio), which];
  });
  const header = ["peer", "threads", "factors", "ms", "ours ms", "times ours", "largest deviation"];
  const notes = result.peers.flatMap((peer) =>
    "missing" in peer
      ? [`${peer.peer} is missing: ${peer.missing}`]
      : peer.agreements.flatMap((agreement) => noteOf(peer.peer, agreement, lanes)),
  );
  return [
    `${counted(factors.length, "factor")}, ${counted(lanes, "lane")} x ${counted(rows, "row")}, ${100 * nullShare} % of the bars missing`,
    `all in one run, medians of ${runs}, from bars in memory to results in memory: loading and reading are not counted`,
    `ours on ${counted(threads, "thread")}, with compiling the formulas; peers on as many as they take by themselves`,
    `machine: ${cpu}, Node ${node}`,
    "",
    ...(lines.length > 0 ? [formatTable(header, lines)] : []),
    ...(notes.length > 0 ? ["", ...notes] : []),
  ].join("\n");
}

function worst(agreements: readonly Agreement[]): Pick<Agreement, "deviationMax" | "factor"> {
  const none = { deviationMax: 0, factor: "" };
  return agreements.reduce((most, each) => (each.deviationMax > most.deviationMax ? each : most), none);
}

function noteOf(peer: string, agreement: Agreement, lanes: number): string[] {
  const { factor, compared, nullsDiffer, valuesDiffer, rounded, deviationMax, first } = agreement;
  const of = `of ${compared.toLocaleString("en")} values`;
  if (first) {
    const place = `row ${Math.floor(first.cell / lanes)}, lane ${first.cell % lanes}`;
    const cells = `${valuesDiffer} ${of} and ${nullsDiffer} nulls differ`;
    const values = `ours ${first.ours}, theirs ${first.theirs}`;
    return [`${peer} DISAGREES in ${factor}: ${cells}, the first in ${place}: ${values}`];
  }
  if (compared === 0)
    return [`${peer} cannot be compared in ${factor}: no value on either side, give more rows`];
  if (rounded === 0) return [];
  const most = `at most ${figure(deviationMax)}`;
  return [`${peer} rounds in ${factor}: ${rounded} ${of} deviate by more than 1e-9, ${most} (running sums)`];
}

function figure(value: number): number | string {
  return value < 1e-3 ? value.toExponential(1) : Number(value.toPrecision(3));
}
