import type { Ring } from "../../operator/window_code.ts";
import { Code, type Local, type Locals } from "./code.ts";

/** Position of a ring of rows. */
export type RingPlace = Pick<Ring, "byteOffset" | "ringRows">;

/** Emits the addresses of the rows that a kernel reads and writes: each is computed once per row of the loop. */
export class RowAddresses {
  /** Code at the start of the loop over rows. */
  readonly code: Code;
  readonly #row: Local;
  readonly #rowBytes: number;
  readonly #slots = new Map<RingPlace, Local>();
  readonly #addresses = new Map<string, Local>();
  readonly #turns = new Map<string, Local>();

  constructor(locals: Locals, row: Local, rowBytes: number) {
    this.code = new Code(locals);
    this.#row = row;
    this.#rowBytes = rowBytes;
  }

  /** The address of a ring's row `lagRows` rows ago. */
  of(place: RingPlace, lagRows: number): Local {
    const { ringRows, byteOffset } = place;
    const key = `${byteOffset} ${lagRows}`;
    const known = this.#addresses.get(key);
    if (known) return known;
    const { code } = this;
    const address = code.locals.add("i32");
    const slot = this.#slotOf(place);
    // slot - lag, plus ringRows where that is negative
    code.get(slot).i32(lagRows).op("i32.sub");
    code
      .get(slot)
      .i32(ringRows - lagRows)
      .op("i32.add");
    code.get(slot).i32(lagRows).op("i32.ge_u").op("select");
    code.i32(this.#rowBytes).op("i32.mul").i32(byteOffset).op("i32.add").set(address);
    this.#addresses.set(key, address);
    return address;
  }

  /** Byte offset of the row's slot, where rows take the slots in turn. */
  turn(slots: number, slotBytes: number): Local {
    const key = `${slots} ${slotBytes}`;
    const known = this.#turns.get(key);
    if (known) return known;
    const { code } = this;
    const offset = code.locals.add("i32");
    code.get(this.#row).i32(slots).op("i32.rem_u").i32(slotBytes).op("i32.mul").set(offset);
    this.#turns.set(key, offset);
    return offset;
  }

  #slotOf(place: RingPlace): Local {
    const known = this.#slots.get(place);
    if (known) return known;
    const slot = this.code.locals.add("i32");
    this.code.get(this.#row).i32(place.ringRows).op("i32.rem_u").set(slot);
    this.#slots.set(place, slot);
    return slot;
  }
}
