import { finalDag, type Program } from "../compile.ts";
import type { TaskNumbers } from "../kernel/recurrences.ts";
import type { OptionNames } from "../text/option_names.ts";
import type { GivenParams, LiveCall } from "./live_params.ts";
import type { LiveProgram, SessionParts } from "./live_program.ts";
import type { OpenOptions } from "./options.ts";
import type { RetainedRows } from "./retained_rows.ts";

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
  /** Rows that the new program was warmed up with. */
  readonly rowCount: number;
  /** Factors of bounded lookback that look back further than these rows: they are null, or short of history, at first. */
  readonly shortOfHistory: readonly string[];
}

/** The options of a session that change with its program. */
export function updated(
  { select, priorities }: UpdateOptions,
  program: Program,
  { options }: SessionParts,
): Pick<OpenOptions, "select" | "priorities"> {
  const names = new Set(finalDag(program).outputs.map(({ name }) => name));
  const kept = Object.entries(options.priorities ?? {}).filter(([name]) => names.has(name));
  return { select, priorities: priorities ?? Object.fromEntries(kept) };
}

/** Runs the rows that a session has kept through a program that is to take over. */
export class WarmUp {
  readonly program: LiveProgram;
  readonly #rows: RetainedRows;
  readonly #numbers: TaskNumbers;
  readonly #first: number;
  #next: number;
  #lastCall: LiveCall | null = null;

  constructor(program: LiveProgram, rows: RetainedRows, numbers: TaskNumbers) {
    this.program = program;
    this.#rows = rows;
    this.#numbers = numbers;
    this.#first = rows.oldest;
    this.#next = rows.oldest;
  }

  /** True if pushes were faster: rows that were to be run next are not kept any more. */
  get hasLostRows(): boolean {
    return this.#next < this.#rows.oldest;
  }

  /** How the newest of the rows was run; null if there is none. */
  get lastCall(): LiveCall | null {
    return this.#lastCall;
  }

  /** Runs rows up to the one before `end()`, which moves on while rows are pushed. */
  async run(end: () => number): Promise<void> {
    while (this.#next < end() && !this.hasLostRows) {
      const { row, params, symbolCount } = this.#rows.get(this.#next);
      const { program } = this;
      const carried = this.#rows.recurrencesBefore(this.#next);
      if (carried) program.takeRecurrences(carried, this.#numbers);
      const call = program.params.ofKnown(params);
      program.plan.input.useLanes(symbolCount);
      program.stage(row, call);
      await program.run(call);
      this.#lastCall = call;
      this.#next++;
    }
  }

  report(): UpdateReport {
    const rowCount = this.#next - this.#first;
    const { factors } = this.program.program;
    const isShort = (lookback: number) =>
      Number.isFinite(lookback) && lookback >= rowCount && this.#first > 0;
    return {
      rowCount,
      shortOfHistory: factors.flatMap(({ name, lookbackRows }) => (isShort(lookbackRows) ? [name] : [])),
    };
  }
}
