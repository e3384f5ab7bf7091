import { finalDag, type Program } from "../../compile.ts";
import { suppressUnhandled } from "../../evaluation/awaiting.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../../execution/executor_pool.ts";
import type { RecurrenceValues } from "../../kernel/run/recurrences.ts";
import type { ShortOfHistory } from "../../state/history.ts";
import type { RetainedRows } from "../../state/retained_rows.ts";
import { RECORD, TEXTS } from "../../text/argument_kinds.ts";
import type { OptionKinds } from "../../text/option_kinds.ts";
import type { InputRow } from "../input/bars.ts";
import type { GivenParams, LiveCall } from "../live_params.ts";
import { ROW_SLOTS } from "../live_plan.ts";
import type { LiveProgram } from "../live_program.ts";
import { type OpenOptions, PRIORITIES } from "../options.ts";
import type { RanRow } from "../row_runner.ts";

/** Options of a switch to another program. */
export interface UpdateOptions {
  /** Only these factors. Default: all of the new program. */
  readonly select?: readonly string[] | undefined;
  /** Default: those of the session, for factors that remain. */
  readonly priorities?: Readonly<Record<string, number>> | undefined;
  /** Values of params for pushes that give no others. Default: those of the session that the program has. */
  readonly params?: GivenParams | undefined;
}

export const UPDATE_OPTIONS: OptionKinds<UpdateOptions> = {
  select: TEXTS,
  priorities: PRIORITIES,
  params: RECORD,
};

export interface UpdateReport {
  /** Rows that the new program was warmed up with; 0 if its formulas are those of the session, whose state is kept. */
  readonly rowCount: number;
  /** `LiveSession.shortOfHistory` after the switch. */
  readonly shortOfHistory: ShortOfHistory;
}

/** The options of a session that change with its program. @throws UsageError E528. */
export function updatedOptions(
  { select, priorities }: UpdateOptions,
  program: Program,
  current: OpenOptions,
): Pick<OpenOptions, "select" | "priorities"> {
  const names = new Set(finalDag(program).outputs.map(({ name }) => name));
  const kept = Object.entries(current.priorities ?? {}).filter(([name]) => names.has(name));
  return { select, priorities: priorities ?? Object.fromEntries(kept) };
}

/**
 * Runs the retained rows of a session through its next program. Rows overlap, and those that were there at the start run
 * only what the last of them needs: short windows are rebuilt from the rows that they cover.
 */
export class WarmUp {
  readonly program: LiveProgram;
  readonly #rows: RetainedRows<InputRow>;
  readonly #first: number;
  /** The last row at the start, and for each node how many rows before it the node begins; null: with the first. */
  readonly #last: number;
  readonly #rowsOfNodes: readonly (number | null)[];
  readonly #renewals: number;
  #next: number;
  #lastRow: (RanRow & { readonly call: LiveCall }) | null = null;
  /** Carried values of the program where parts begin. */
  readonly #recurrences = new Map<number, RecurrenceValues>();

  constructor(program: LiveProgram, rows: RetainedRows<InputRow>) {
    this.program = program;
    this.#rows = rows;
    this.#first = rows.oldest;
    this.#last = rows.count - 1;
    this.#rowsOfNodes = program.warmUpRows();
    this.#next = rows.oldest;
    this.#renewals = rows.renewals;
  }

  /** Whether the next rows are lost, because pushes were faster, or the session was restored or has restarted. */
  get hasLostRows(): boolean {
    return this.#next < this.#rows.oldest || this.#renewals !== this.#rows.renewals;
  }

  /** The last row, how it was run, and its call; null before the first. */
  get lastRow(): (RanRow & { readonly call: LiveCall }) | null {
    return this.#lastRow;
  }

  get rowCount(): number {
    return this.#next - this.#first;
  }

  /** Runs the rows before `end()`, which grows while rows are pushed. */
  async run(end: () => number): Promise<void> {
    const underWay: Promise<void>[] = [];
    while (this.#next < end() && !this.hasLostRows) {
      if (underWay.length === OVERLAPPING_BLOCKS_MAX) await underWay.shift();
      if (this.#isPause) {
        await Promise.all(underWay.splice(0));
        await this.#pause();
      }
      if (!this.hasLostRows) underWay.push(suppressUnhandled(this.#runNext()));
    }
    await Promise.all(underWay);
  }

  async #runNext(): Promise<void> {
    const { program } = this;
    const number = this.#next++;
    const { row, params } = this.#rows.get(number);
    const call = program.params.ofRow(params);
    const slot = number % ROW_SLOTS;
    program.stage(slot, row, call);
    const begun = (rows: number | null) => (rows === null || number + rows >= this.#last ? 1 : 0);
    const mayRun = number > this.#last ? undefined : Uint8Array.from(this.#rowsOfNodes, begun);
    this.#lastRow = { row, call, slot, run: await program.run(call, slot, { mayRun }) };
  }

  /** Call after the last row: determines which values are exact, and keeps carried values for later updates. */
  async finish(): Promise<void> {
    const { program } = this;
    await this.#pause();
    program.setHistory(this.#first, this.#rows.pointsFrom(this.#first));
    for (const [row, values] of this.#recurrences) this.#rows.addPoint(program.pointOf(row, values));
  }

  /** Whether no row may be under way before the next one: carried values are read there, or recursions end their rest. */
  get #isPause(): boolean {
    return this.#isPart || this.program.plan.evaluation.openPlan.isRestDue;
  }

  get #isPart(): boolean {
    return this.#rows.pointBefore(this.#next) !== undefined || this.#rows.beginsPart(this.#next);
  }

  async #pause(): Promise<void> {
    const { program } = this;
    await program.runner.endRest(this.#lastRow?.slot ?? 0);
    if (!this.#isPart) return;
    const point = this.#rows.pointBefore(this.#next);
    if (point) program.takeRecurrences(point.values);
    this.#recurrences.set(this.#next, program.recurrences());
  }
}
