import type { Ring } from "../../operator/window_code.ts";
import { Code, type Local, type Locals } from "./code.ts";
import { type I32, type I32Local, LocalExpression, locals, parameter } from "./expressions.ts";

/** Position of a ring of rows, and the value of those before the first: null for a column. */
export type RingPlace = Omit<Ring, "initial"> & Partial<Pick<Ring, "initial">>;

/** The address of a row that holds the value in every lane. */
export type EmptyRow = (initial: number) => number;

/** Emits the addresses of the rows that a kernel reads and writes: each is computed once per row of the loop. */
export class RowAddresses {
  /** Code at the start of the loop over rows. */
  readonly code: Code;
  readonly #row: I32;
  readonly #rowBytes: number;
  readonly #emptyRow: EmptyRow | null;
  readonly #known = new Map<string, I32Local>();

  /** @param emptyRow stands for rows before the first one of the call; null if those are read */
  constructor(ofKernel: Locals, row: Local, rowBytes: number, emptyRow: EmptyRow | null) {
    this.code = new Code(ofKernel);
    this.#row = new LocalExpression(this.code, "i32", row);
    this.#rowBytes = rowBytes;
    this.#emptyRow = emptyRow;
  }

  /** The address of a ring's row `lagRows` rows ago. */
  of({ ringRows, byteOffset, initial = Number.NaN }: RingPlace, lagRows: number): Local {
    return this.#once(`row ${byteOffset} ${lagRows}`, () => {
      const slot = this.#once(`slot ${byteOffset}`, () => this.#row.remainder(ringRows));
      const lagged = slot.ge(lagRows).select(slot.sub(lagRows), slot.add(ringRows - lagRows));
      const address = lagged.mul(this.#rowBytes).add(byteOffset);
      if (this.#emptyRow === null || lagRows === 0) return address;
      const age = this.#once("age", () => this.#row.sub(parameter(this.code, 0)));
      return age.ge(lagRows).select(address, this.#emptyRow(initial));
    });
  }

  /** Byte offset of the row's slot, where rows take the slots in turn. */
  turn(slots: number, slotBytes: number): Local {
    return this.#once(`turn ${slots} ${slotBytes}`, () => this.#row.remainder(slots).mul(slotBytes));
  }

  #once(key: string, compute: () => I32): I32Local {
    const known = this.#known.get(key);
    if (known) return known;
    const [made] = locals(this.code, "i32", 1);
    this.#known.set(key, made);
    made.set(compute());
    return made;
  }
}
