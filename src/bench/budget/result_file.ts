import { readFile } from "node:fs/promises";
import { UsageError } from "../../errors.ts";
import type { BenchResult } from "../result.ts";
import type { BudgetResult } from "./budget.ts";
import type { BudgetCell } from "./cell.ts";

/** One measurement of one workload. */
export interface MeasuredRun {
  /** What was measured over what: only equal workloads are compared. */
  readonly workload: string;
  /** Times of single calls in ms, where a call is a row. */
  readonly callMs: readonly number[] | null;
  /** Figures of which a run gives one each; more is worse. */
  readonly figures: Readonly<Record<string, number>>;
  /** Of the outputs, and over how many rows. */
  readonly digest: string;
  readonly rows: number;
}

export interface ResultFile {
  readonly path: string;
  readonly runs: readonly MeasuredRun[];
  /** Processor, cores and Node of every run, each once. */
  readonly machines: readonly string[];
}

/** What the parts of a workload tell that may be compared. */
const PART_FIGURES = ["nsPerCell", "p50", "p99", "readyMs"];

/**
 * Reads what `bench budget` wrote, or what `bench NAME --json` printed: one result, a list of them, or a result a line.
 *
 * @throws UsageError E523 if the file cannot be read or holds anything else.
 */
export async function readResultFile(path: string): Promise<ResultFile> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw refusal(`${path} cannot be read: ${error.message}`);
  });
  const results = parse(path, text);
  if (results.length === 0) throw refusal(`${path} holds no results`);
  const runs = results.flatMap((result) => {
    if (isBudget(result)) return result.cells.map((cell) => runOfCell(cell, result));
    if (isBench(result)) return [runOfBench(result)];
    throw refusal(`${path} holds something else than results`);
  });
  const machines = results.map((result) => {
    const { cpu, cores, node } = result as Pick<BenchResult, "cpu" | "cores" | "node">;
    return `${cpu}, ${cores} cores, Node ${node}`;
  });
  return { path, runs, machines: [...new Set(machines)] };
}

function refusal(problem: string): UsageError {
  return new UsageError(
    "E523",
    problem,
    "give files of `factorloom bench budget`, or what `factorloom bench NAME --json` printed",
  );
}

function parse(path: string, text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    try {
      return lines.flatMap((line) => JSON.parse(line));
    } catch {
      throw refusal(`${path} is no JSON`);
    }
  }
}

function isBudget(value: unknown): value is BudgetResult {
  const { workload, cells, settings } = (value ?? {}) as Partial<BudgetResult>;
  return (
    workload === "budget" &&
    typeof settings?.nullShare === "number" &&
    Array.isArray(cells) &&
    cells.length > 0 &&
    cells.every((cell) => isCalls(cell?.callMs) && isFigure(cell.readyMs) && isFigure(cell.arenaBytes))
  );
}

function isBench(value: unknown): value is BenchResult {
  const { workload, wallMs, readyMs, arenaBytes, callMs, parts } = (value ?? {}) as Partial<BenchResult>;
  const isWhole =
    [wallMs, readyMs, arenaBytes].every(isFigure) && (parts === undefined || Array.isArray(parts));
  return typeof workload === "string" && isWhole && (callMs === undefined || isCalls(callMs));
}

function isCalls(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isFigure);
}

function isFigure(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function runOfCell(cell: BudgetCell, { settings }: BudgetResult): MeasuredRun {
  const { formulas, factors, lanes, threads, callMs, readyMs, arenaBytes, digest, warmUpRows } = cell;
  const over = `${lanes} lanes, ${100 * settings.nullShare} % nulls`;
  return {
    workload: `budget ${formulas}: ${factors} formulas, ${over}, threads: ${threads}`,
    callMs,
    figures: { "ready ms": readyMs, "arena bytes": arenaBytes },
    digest,
    rows: warmUpRows + callMs.length,
  };
}

function runOfBench(result: BenchResult): MeasuredRun {
  const { workload, factors, lanes, rows, threads, nullShare, blockRows, callMs = null } = result;
  const { wallMs, readyMs, arenaBytes, digest, warmUpRows = 0, parts = [] } = result;
  // More calls are the same workload; more rows before them, or of history, are not.
  const size = callMs
    ? `${lanes} lanes after ${warmUpRows} rows`
    : `${lanes} lanes x ${rows} rows, blocks of ${blockRows}`;
  const ofParts = parts.flatMap((part) =>
    PART_FIGURES.filter((key) => isFigure(part[key])).map((key) => [
      `${part["name"]} ${key}`,
      part[key] as number,
    ]),
  );
  const wall = callMs ? {} : { "wall ms": wallMs };
  return {
    workload: `${workload}: ${factors} formulas, ${size}, ${100 * nullShare} % nulls, threads: ${threads}`,
    callMs,
    figures: { ...wall, ...Object.fromEntries(ofParts), "ready ms": readyMs, "arena bytes": arenaBytes },
    digest,
    rows: warmUpRows + rows,
  };
}
