import { checkArgument, LIST } from "../../text/argument_kinds.ts";
import { duplicateSymbol, noSpareLane, symbolInvalid, symbolUnknown } from "../errors.ts";

/**
 * Assigns lanes to symbols. Spare lanes are null, and operators across the row do not see them. The last one stays spare:
 * what recursive operators carry for it is what they carry for a symbol that was absent in all rows.
 */
export class SymbolLanes {
  readonly laneCount: number;
  /** The symbol of each lane in use. */
  readonly #byLane: string[] = [];
  readonly #laneOf = new Map<string, number>();
  #symbols: readonly string[] = [];
  #lanes: Int32Array = new Int32Array(0);
  #sorted: readonly string[] = [];
  #sortedLanes: Int32Array = new Int32Array(0);
  #sortedIndices: Int32Array = new Int32Array(0);

  /**
   * Lanes for symbols, those of a checkpoint first, and for some more.
   *
   * @param known the symbol of each lane that is in use already
   */
  constructor(symbols: readonly string[], spareCount: number, known: readonly string[] = []) {
    this.laneCount = new Set([...known, ...symbols]).size + spareCount + 1;
    this.#use(known);
    this.#order(known);
  }

  /**
   * Takes the lanes of a checkpoint; its own other symbols get those behind them.
   *
   * @param symbols those of `byLane` in the order of a bar's values
   */
  restore(byLane: readonly string[], symbols: readonly string[]): void {
    const saved = new Set(byLane);
    const own = this.#symbols.filter((symbol) => !saved.has(symbol));
    this.#byLane.length = 0;
    this.#laneOf.clear();
    this.#use([...byLane, ...own]);
    this.#order([...symbols, ...own]);
  }

  /** How many lanes the symbols of a checkpoint and its own take together. */
  countWith(others: readonly string[]): number {
    return new Set([...this.#byLane, ...others]).size;
  }

  /** Adds the symbols that it lacks, and takes the order of all. @throws as `add` and `lanesOf`. */
  extendTo(symbols: readonly string[]): void {
    checkArgument("symbols", symbols, LIST);
    const all = [...symbols];
    this.add(all.filter((symbol) => !this.has(symbol)));
    this.#order(all);
  }

  /** The most symbols that it can have. */
  get room(): number {
    return this.laneCount - 1;
  }

  /** Symbols in the order of a bar's values. */
  get symbols(): readonly string[] {
    return this.#symbols;
  }

  /** The lane of each of `symbols`. */
  get lanes(): Int32Array {
    return this.#lanes;
  }

  /** Symbols in code-unit order. */
  get sorted(): readonly string[] {
    return this.#sorted;
  }

  get sortedLanes(): Int32Array {
    return this.#sortedLanes;
  }

  /** 0, 1, 2, ...: indices of `sorted`. */
  get sortedIndices(): Int32Array {
    return this.#sortedIndices;
  }

  /** The symbol of each lane in use, by lane. */
  get byLane(): readonly string[] {
    return this.#byLane;
  }

  has(symbol: string): boolean {
    return this.#laneOf.has(symbol);
  }

  /**
   * The lanes of symbols.
   *
   * @throws DataError E373 for an unknown symbol, for one that is no text, for one that is given twice;
   *   UsageError E528 for no list.
   */
  lanesOf(symbols: readonly string[]): Int32Array {
    checkArgument("symbols", symbols, LIST);
    const lanes = Int32Array.from(symbols, (symbol, index) => {
      const lane = this.#laneOf.get(symbol);
      if (lane !== undefined) return lane;
      throw isSymbol(symbol) ? symbolUnknown(symbol, this.#symbols) : symbolInvalid(symbol, index);
    });
    const isTaken = new Uint8Array(this.laneCount);
    lanes.forEach((lane, index) => {
      if (isTaken[lane]) throw duplicateSymbol(symbols[index]!);
      isTaken[lane] = 1;
    });
    return lanes;
  }

  /**
   * @throws DataError E373 for a known symbol, for one that is no text; UsageError E528 for no list, E551 for too few
   *   spare lanes.
   */
  add(given: readonly string[]): void {
    const symbols = this.checkNew(given);
    this.#use(symbols.toSorted());
    this.#order([...this.#symbols, ...symbols]);
  }

  /** The symbols as a list, if they can be added. @throws as `add`. */
  checkNew(given: readonly string[]): readonly string[] {
    checkArgument("symbols", given, LIST);
    const symbols = [...given];
    const free = this.room - this.#byLane.length;
    const known = new Set(this.#byLane);
    for (const [index, symbol] of symbols.entries()) {
      if (!isSymbol(symbol)) throw symbolInvalid(symbol, index);
      if (known.has(symbol)) throw duplicateSymbol(symbol);
      known.add(symbol);
    }
    if (symbols.length > free) throw noSpareLane(symbols.length, free);
    return symbols;
  }

  #use(symbols: readonly string[]): void {
    for (const symbol of symbols) this.#laneOf.set(symbol, this.#byLane.push(symbol) - 1);
  }

  #order(symbols: readonly string[]): void {
    this.#symbols = symbols;
    this.#lanes = this.lanesOf(symbols);
    this.#sorted = symbols.toSorted();
    this.#sortedLanes = this.lanesOf(this.#sorted);
    this.#sortedIndices = Int32Array.from(this.#sorted, (_, index) => index);
  }
}

/** Callers in JavaScript may pass anything. */
function isSymbol(given: unknown): boolean {
  return typeof given === "string" && given !== "";
}
