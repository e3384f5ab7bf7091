import type { PlanData } from "../../src/execution/executor_pool.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { dataOf } from "./small_plan.ts";

/** So long that the scheduler queues no other part after one that is held. */
const PART_NS = 1_000_000;

/** The field, read by no node, whose memory is the diary. */
export const DIARY_FIELD = "diary";

/** Words of one part in one block. */
const WORDS = 8;
const RUNS = 0;
const EXECUTORS = 1;
const MICROSECONDS = 2;
const FAULTS = 3;
const BEGAN = 4;
const ENDED = 5;
const HELD = 6;
const START_ROW = 7;

/** A part of a node in the block that starts with a row. */
export type PartOfRow = readonly [row: number, node: number, part: number];

/**
 * The history of every part in every block, and orders for it: memory that a test shares with the fixture's runner. The
 * first words count events.
 */
export class PartDiary {
  readonly column: Float64Array<SharedArrayBuffer>;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #nodeCount: number;
  readonly #partsMax: number;

  constructor(plan: Plan, column: Float64Array<SharedArrayBuffer>) {
    this.column = column;
    this.#words = new Int32Array(column.buffer);
    this.#nodeCount = plan.nodes.length;
    this.#partsMax = partsMax(plan);
  }

  /** @param rowCount rows that blocks may start with */
  static create(plan: Plan, rowCount: number): PartDiary {
    const bytes = 4 * WORDS * (1 + rowCount * plan.nodes.length * partsMax(plan));
    return new PartDiary(plan, new Float64Array(new SharedArrayBuffer(bytes)));
  }

  /** Number of completed runs of the part. */
  runs(part: PartOfRow): number {
    return this.#load(part, RUNS);
  }

  /** The executors that ran it. */
  executors(part: PartOfRow): number[] {
    const bits = this.#load(part, EXECUTORS);
    return Array.from({ length: 31 }, (_, executor) => executor).filter((executor) => (bits >> executor) & 1);
  }

  /** Sequence numbers of its last begin and end among all begins and ends, from 1 on; 0 if there was none. */
  began(part: PartOfRow): number {
    return this.#load(part, BEGAN);
  }

  ended(part: PartOfRow): number {
    return this.#load(part, ENDED);
  }

  /** The start row that the node was given; null if it was given none. */
  startRow(part: PartOfRow): number | null {
    const word = this.#load(part, START_ROW);
    return word === 0 ? null : word - 1;
  }

  /** Makes the part take this long. */
  setDuration(part: PartOfRow, microseconds: number): void {
    this.#words[this.#at(part) + MICROSECONDS] = microseconds;
  }

  /** Makes the part end its thread, or throw, this many times before it runs. */
  setDeaths(part: PartOfRow, count: number): void {
    this.#words[this.#at(part) + FAULTS] = count;
  }

  setFailures(part: PartOfRow, count: number): void {
    this.#words[this.#at(part) + FAULTS] = -count;
  }

  /** Stops the part until it is released. */
  hold(part: PartOfRow): void {
    Atomics.store(this.#words, this.#at(part) + HELD, 1);
  }

  letGo(part: PartOfRow): void {
    Atomics.store(this.#words, this.#at(part) + HELD, 0);
    Atomics.notify(this.#words, this.#at(part) + HELD);
  }

  /** In an executor: carries out the orders for the part, then runs it. */
  run(part: PartOfRow, executor: number, startRow: number | undefined, body: () => void): void {
    const words = this.#words;
    const at = this.#at(part);
    Atomics.store(words, at + BEGAN, Atomics.add(words, 0, 1) + 1);
    Atomics.store(words, at + START_ROW, startRow === undefined ? 0 : startRow + 1);
    while (Atomics.load(words, at + HELD) === 1) Atomics.wait(words, at + HELD, 1);
    const microseconds = words[at + MICROSECONDS]!;
    // Sleeps on words that nothing changes.
    if (microseconds > 0) Atomics.wait(words, at + MICROSECONDS, microseconds, microseconds / 1000);
    const faults = Atomics.load(words, at + FAULTS);
    if (faults > 0) {
      Atomics.sub(words, at + FAULTS, 1);
      process.exit(3);
    }
    if (faults < 0) {
      Atomics.add(words, at + FAULTS, 1);
      throw new RangeError(`part ${part.join(" ")}`);
    }
    body();
    Atomics.or(words, at + EXECUTORS, 1 << executor);
    Atomics.store(words, at + ENDED, Atomics.add(words, 0, 1) + 1);
    Atomics.add(words, at + RUNS, 1);
  }

  #load(part: PartOfRow, word: number): number {
    return Atomics.load(this.#words, this.#at(part) + word);
  }

  #at([row, node, part]: PartOfRow): number {
    return WORDS * (1 + (row * this.#nodeCount + node) * this.#partsMax + part);
  }
}

/** The data of a plan with its diary: blocks may start with as many rows. */
export function diarised(drawn: Plan, rowCount: number): { data: PlanData; diary: PartDiary } {
  const nodes = drawn.nodes.map((node) => ({ ...node, costNs: PART_NS * node.partCount }));
  const plan = { ...drawn, nodes };
  const data = dataOf(plan, rowCount);
  const diary = PartDiary.create(plan, rowCount);
  return { diary, data: { ...data, fields: new Map([...data.fields, [DIARY_FIELD, diary.column]]) } };
}

/** Nodes and parts of a plan. */
export function partsOf({ nodes }: Plan): (readonly [node: number, part: number])[] {
  return nodes.flatMap(({ id, partCount }) =>
    Array.from({ length: partCount }, (_, part) => [id, part] as const),
  );
}

function partsMax({ nodes }: Plan): number {
  return Math.max(...nodes.map(({ partCount }) => partCount));
}
