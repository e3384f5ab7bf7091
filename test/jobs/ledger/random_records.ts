import { Xoshiro128 } from "../../../src/bench/random.ts";
import type { Ledger } from "../../../src/jobs/ledger/ledger.ts";
import type {
  Batch,
  BeginRecord,
  Committed,
  ConsumedInput,
  EndedRun,
  SkippedInput,
  StagedOutput,
  Universe,
} from "../../../src/jobs/ledger/records.ts";
import type { KnownTime } from "../../../src/jobs/ledger/time_table.ts";

/** What a ledger says, in memory. */
export interface Answers {
  begin: BeginRecord | null;
  universe: Universe | null;
  batch: Batch | null;
  committed: Committed;
  lastRun: EndedRun | null;
  lastSuccess: EndedRun | null;
  digested: readonly string[];
  readonly times: ReturnType<typeof textsOf>[];
  readonly consumed: ConsumedInput[];
  readonly outputs: StagedOutput[];
  readonly skipped: Record<string, SkippedInput>;
}

/** Records of the life of a job, which depend on the seed alone, with what a ledger says after each of them. */
export class RandomRecords {
  readonly answers: Answers = {
    begin: null,
    universe: null,
    batch: null,
    committed: { sequence: 0, files: 0, rows: 0, outputs: 0, lastTime: null },
    lastRun: null,
    lastSuccess: null,
    digested: [],
    times: [],
    consumed: [],
    outputs: [],
    skipped: {},
  };
  readonly #numbers: Xoshiro128;

  constructor(seed: number) {
    this.#numbers = Xoshiro128.seeded(BigInt(seed));
  }

  below(count: number): number {
    return Math.floor(count * this.#numbers.uniform());
  }

  /** Draws the next record; the result adds it to a ledger. */
  next(): (ledger: Ledger) => void {
    const { answers } = this;
    const kind = this.below(8);
    const isPending = (answers.batch?.sequence ?? 0) !== answers.committed.sequence;
    if (answers.begin === null) return this.#begin();
    if (answers.universe === null || kind === 0) return this.#universe();
    if (isPending) return this.#commit(answers.batch!);
    if (kind < 4) return this.#prepare();
    return kind === 4 ? this.#skip() : this.#endRun();
  }

  #text(): string {
    const pieces = ["a", "ü", "'", '"', "\n", "𝄞", "\u0000", "\ud800", "x".repeat(this.below(300))];
    return Array.from({ length: this.below(6) }, () => pieces[this.below(pieces.length)]!).join("");
  }

  #begin(): (ledger: Ledger) => void {
    const time = { name: "date", type: { kind: "date" } } as const;
    const begin = {
      id: this.#text(),
      generation: 1,
      factors: [this.#text()],
      fingerprints: {},
      settings: { a: "b" },
      formulas: { texts: [["a.factors", this.#text()]] as const, program: {}, call: {} },
      fieldNames: [],
      groupNames: [],
      time,
    };
    this.answers.begin = begin;
    return (ledger) => ledger.keep({ begin });
  }

  #universe(): (ledger: Ledger) => void {
    const symbols = Array.from({ length: 1 + this.below(400) }, (_, lane) => `S${lane}`);
    const universe = {
      symbols,
      groups: [
        { name: "sector", labels: ["tech"], codes: symbols.map(() => this.below(2) - 1), earlier: [] },
      ],
    };
    this.answers.universe = universe;
    return (ledger) => ledger.keep({ universe });
  }

  #prepare(): (ledger: Ledger) => void {
    const { answers } = this;
    const first = answers.consumed.length;
    const inputs = Array.from({ length: 1 + this.below(4) }, (_, index): ConsumedInput => {
      const number = first + index;
      const [bytes, modifiedMs] = [this.below(2 ** 40), 1.7e12 + 1_000 * this.#numbers.uniform()];
      const path = `/bars/${number}${this.#text()}`.toWellFormed();
      return { path, bytes, modifiedMs, sha256: this.#text() };
    });
    const times = inputs.map(({ path }, index): KnownTime => {
      const bytes = Uint8Array.from({ length: 16 * (1 + this.below(3)) }, () => this.below(256));
      return { time: 2n ** 62n + BigInt(first + index), path, bytes };
    });
    const digested = ["close", this.#text()];
    const outputs = Array.from({ length: this.below(4) }, (): StagedOutput => {
      const rows = this.below(2) === 0 ? null : { count: 3, sum: "12", from: "2024-01-02", timeType: "DATE" };
      return {
        staged: this.#text(),
        target: this.#text(),
        bytes: this.below(1_000),
        sha256: this.#text(),
        rows,
      };
    });
    const lastTime = String(times.at(-1)!.time);
    const checkpoint = { file: "checkpoint-1.bin", sha256: this.#text() };
    const rows = this.below(1_000);
    const counts = { files: inputs.length, rows, outputs: outputs.length };
    const sequence = answers.committed.sequence + 1;
    answers.batch = { sequence, ...counts, lastTime, checkpoint };
    answers.digested = digested;
    answers.times.push(...times.map(textsOf));
    answers.consumed.push(...inputs);
    answers.outputs.push(...outputs);
    return (ledger) => ledger.prepare({ inputs, times, digested, lastTime, outputs, rows, checkpoint });
  }

  #commit({ sequence, lastTime, rows }: Batch): (ledger: Ledger) => void {
    const { answers } = this;
    const [files, outputs] = [answers.consumed.length, answers.outputs.length];
    answers.committed = { sequence, lastTime, files, outputs, rows: answers.committed.rows + rows };
    return (ledger) => ledger.commit();
  }

  #skip(): (ledger: Ledger) => void {
    const input = {
      path: `/bars/bad${this.below(4)}`,
      sha256: this.#text(),
      reason: this.#text(),
      since: "",
    };
    this.answers.skipped[input.path] = input;
    return (ledger) => ledger.passOver(input);
  }

  #endRun(): (ledger: Ledger) => void {
    const outcomes = ["done", "failed", "cancelled", "interrupted"] as const;
    const outcome = outcomes[this.below(outcomes.length)]!;
    const run = {
      startedAt: this.#text(),
      endedAt: this.#text(),
      outcome,
      files: 0,
      rows: 0,
      error: this.#text(),
    };
    this.answers.lastRun = run;
    if (outcome === "done") this.answers.lastSuccess = run;
    return (ledger) => ledger.endRun(run);
  }
}

function textsOf({ time, path, bytes }: KnownTime) {
  return { time: String(time), path, bytes: Buffer.from(bytes).toString("hex") };
}

/** All that a ledger says: each record is read in every way that there is. */
export function answersOf(ledger: Ledger): Answers {
  const { begin, universe, batch, committed, digested, lastRun, lastSuccess } = ledger;
  const times = [...ledger.times.from(-(2n ** 63n))].map(textsOf);
  for (const { time } of times) ledger.times.get(BigInt(time));
  const inOrder = <Row>(pages: Iterable<Row[]>) => [...pages].flat().reverse();
  const consumed = inOrder(ledger.consumed.pages());
  const byPath = ledger.consumed.getAll(consumed.map(({ path }) => path));
  const outputs = inOrder(ledger.outputs.pages());
  const skipped = Object.fromEntries(
    inOrder(ledger.skipped.pages()).map((each) => [each.path, ledger.skipped.get(each.path)!]),
  );
  return structuredClone({
    begin,
    universe,
    batch,
    committed,
    lastRun,
    lastSuccess,
    digested,
    times,
    consumed: byPath,
    outputs,
    skipped,
  }) as Answers;
}
