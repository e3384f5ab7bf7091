import { finalDag, type Program } from "../../compile.ts";
import type { RecurrenceValues, TaskNumbers } from "../../kernel/recurrences.ts";
import type { OptionNames } from "../../text/option_names.ts";
import type { RetainedRows } from "../input/retained_rows.ts";
import type { GivenParams, LiveCall } from "../live_params.ts";
import type { LiveProgram } from "../live_program.ts";
import type { OpenOptions } from "../options.ts";

/** How a session goes on with another program. */
export interface UpdateOptions {
  /** Only these factors. Default: all of the new program. */
  readonly select?: readonly string[] | undefined;
  /** Default: those of the session, for factors that are still there. */
  readonly priorities?: Readonly<Record<string, number>> | undefined;
  /** Values of params for every push that gives no other ones. Default: those of the session, where there are such params. */
  readonly params?: GivenParams | undefined;
}

export const UPDATE_OPTIONS: OptionNames<UpdateOptions> = { select: true, priorities: true, params: true };

export interface UpdateReport {
  /** Rows that the new program was warmed up with; 0 where its formulas are those of the session: all stays as it is. */
  readonly rowCount: number;
  /**
   * Factors that do not have the bits of the whole history in the next row: they look back further than the rows that are
   * kept, or apply recursive operators that the session has not run since its first row. All others have.
   */
  readonly shortOfHistory: readonly string[];
}

/** The options of a session that change with its program. */
export function updated(
  { select, priorities }: UpdateOptions,
  program: Program,
  current: OpenOptions,
): Pick<OpenOptions, "select" | "priorities"> {
  const names = new Set(finalDag(program).outputs.map(({ name }) => name));
  const kept = Object.entries(current.priorities ?? {}).filter(([name]) => names.has(name));
  return { select, priorities: priorities ?? Object.fromEntries(kept) };
}

/** Runs the rows that a session has kept through a program that is to take over. */
export class WarmUp {
  readonly program: LiveProgram;
  readonly #rows: RetainedRows;
  readonly #numbers: TaskNumbers;
  readonly #first: number;
  readonly #restores: number;
  #next: number;
  #lastCall: LiveCall | null = null;
  /** What recursive operators of the program carried where parts begin. */
  readonly #recurrences = new Map<number, RecurrenceValues>();

  constructor(program: LiveProgram, rows: RetainedRows, numbers: TaskNumbers) {
    this.program = program;
    this.#rows = rows;
    this.#numbers = numbers;
    this.#first = rows.oldest;
    this.#next = rows.oldest;
    this.#restores = rows.restores;
  }

  /** True if rows that were to be run next are not kept any more, for pushes were faster, or the session was restored. */
  get hasLostRows(): boolean {
    return this.#next < this.#rows.oldest || this.#restores !== this.#rows.restores;
  }

  /** How the newest of the rows was run; null if there is none. */
  get lastCall(): LiveCall | null {
    return this.#lastCall;
  }

  get rowCount(): number {
    return this.#next - this.#first;
  }

  /** Runs rows up to the one before `end()`, which moves on while rows are pushed. */
  async run(end: () => number): Promise<void> {
    while (this.#next < end() && !this.hasLostRows) {
      const { row, params } = this.#rows.get(this.#next);
      const { program } = this;
      this.#handOver();
      const call = program.params.ofRow(params);
      program.stage(row, call);
      await program.run(call);
      this.#lastCall = call;
      this.#next++;
    }
  }

  /** All rows have been run: says which of the program's values are exact, and keeps what it carried for other updates. */
  finish(): void {
    const { program } = this;
    program.noteHistory(this.#first, this.#rows.pointsFrom(this.#first), this.#numbers);
    for (const [row, values] of this.#recurrences)
      this.#rows.notePoint(program.pointOf(row, values, this.#numbers));
  }

  #handOver(): void {
    const { program } = this;
    const point = this.#rows.pointBefore(this.#next);
    if (point) program.takeRecurrences(point.values, this.#numbers);
    if (point || this.#rows.beginsPart(this.#next))
      this.#recurrences.set(this.#next, program.recurrences(this.#numbers));
  }
}
