import { types } from "node:util";
import { type ArgumentKind, checkArgument, isRecord, LIST } from "../../text/argument_kinds.ts";
import { groupChanged, groupColumnUnknown, lengthWrong, symbolUnknown, valueInvalid } from "../errors.ts";
import type { SymbolLanes } from "./symbol_lanes.ts";

/** Labels by symbol; null or missing if a symbol has no label. */
export type LabelsBySymbol = Readonly<Record<string, string | null>> | ReadonlyMap<string, string | null>;

/** For each group column the label of each symbol. */
export type StaticGroups = Readonly<Record<string, LabelsBySymbol>>;

/** For a checkpoint: labels in the order of their codes, and labels of symbols. */
export interface SavedGroups {
  readonly labels: readonly (readonly [column: string, labels: readonly string[]])[];
  readonly bySymbol: readonly (readonly [
    column: string,
    labels: readonly (readonly [symbol: string, label: string | null])[],
  ])[];
}

/** Codes of the labels of group columns, and static labels: those of symbols for all bars. */
export class GroupCodes {
  readonly #lanes: SymbolLanes;
  readonly #codes = new Map<string, Map<string, number>>();
  /** Static labels by column, also of symbols that may be added later. */
  readonly #bySymbol = new Map<string, Map<string, string | null>>();
  /** Cached codes of static labels by lane, -1 for null. */
  readonly #ofLanes = new Map<string, Int32Array>();

  constructor(lanes: SymbolLanes) {
    this.#lanes = lanes;
  }

  /** The code of a label, -1 for null; a new label gets the next code. */
  codeOf(column: string, label: string | null): number {
    if (label === null) return -1;
    let codes = this.#codes.get(column);
    if (!codes) {
      codes = new Map();
      this.#codes.set(column, codes);
    }
    const known = codes.get(label) ?? codes.size;
    codes.set(label, known);
    return known;
  }

  /** All group columns that have come. */
  get columns(): readonly string[] {
    return [...new Set([...this.#codes.keys(), ...this.#bySymbol.keys()])];
  }

  /** The labels of a column in the order of their codes. */
  labelsOf(column: string): readonly string[] {
    this.ofLanes(column);
    return [...(this.#codes.get(column)?.keys() ?? [])];
  }

  /** Codes of static labels by lane; null for a column that comes with the bars. */
  ofLanes(column: string): Int32Array | null {
    const labels = this.#bySymbol.get(column);
    if (!labels) return null;
    let codes = this.#ofLanes.get(column);
    if (!codes) {
      const { byLane, laneCount } = this.#lanes;
      codes = new Int32Array(laneCount).fill(-1);
      for (const [lane, symbol] of byLane.entries()) {
        codes[lane] = this.codeOf(column, labels.get(symbol) ?? null);
      }
      this.#ofLanes.set(column, codes);
    }
    return codes;
  }

  /**
   * Sets static labels, also of symbols that may be added later.
   *
   * @throws DataError E383 for a label that is no text; UsageError E528 for an argument without labels.
   */
  set(groups: StaticGroups): void {
    checkArgument("the option groups", groups, GROUPS);
    for (const [column, labels] of Object.entries(groups)) {
      checkArgument(`the group column ${column}`, labels, LABELS);
      const known = this.#bySymbol.get(column) ?? new Map<string, string | null>();
      for (const [symbol, label] of entriesOf(labels)) known.set(symbol, labelOf(column, label));
      this.#bySymbol.set(column, known);
    }
    this.updateSymbols();
  }

  /**
   * The first symbol of the session whose static label would change; null if no label changes. Earlier rows, which may be
   * run again, had the former label. Columns that were not static were not in those rows, or came with them.
   */
  changed(groups: StaticGroups): { readonly column: string; readonly symbol: string } | null {
    for (const [column, labels] of Object.entries(groups)) {
      checkArgument(`the group column ${column}`, labels, LABELS);
      const known = this.#bySymbol.get(column);
      if (!known) continue;
      for (const [symbol, label] of entriesOf(labels)) {
        const isOther = labelOf(column, label) !== (known.get(symbol) ?? null);
        if (isOther && this.#lanes.has(symbol)) return { column, symbol };
      }
    }
    return null;
  }

  /**
   * Checks the groups of symbols that will be added.
   *
   * @param read group columns that the formulas read
   * @throws DataError E373 for an unknown symbol, E383 for a label that is no text, E373 for a column that neither the
   *   formulas nor the session nor its bars have, for another label of a known symbol; UsageError E528 for an
   *   argument without labels.
   */
  checkAdded(groups: StaticGroups, added: readonly string[], read: readonly string[]): void {
    checkArgument("the option groups", groups, GROUPS);
    const columns = new Set([...read, ...this.#bySymbol.keys(), ...this.#codes.keys()]);
    const symbols = new Set([...this.#lanes.symbols, ...added]);
    for (const [column, labels] of Object.entries(groups)) {
      if (!columns.has(column)) throw groupColumnUnknown(column, columns);
      checkArgument(`the group column ${column}`, labels, LABELS);
      for (const [symbol, label] of entriesOf(labels)) {
        if (!symbols.has(symbol)) throw symbolUnknown(symbol, symbols);
        labelOf(column, label);
      }
    }
    const changed = this.changed(groups);
    if (changed) throw groupChanged(changed.symbol, changed.column);
  }

  updateSymbols(): void {
    this.#ofLanes.clear();
  }

  save(): SavedGroups {
    return {
      labels: [...this.#codes].map(([column, codes]) => [column, [...codes.keys()]]),
      bySymbol: [...this.#bySymbol].map(([column, labels]) => [column, [...labels]]),
    };
  }

  /** Takes the codes and labels of a checkpoint, and keeps the labels of other symbols. */
  restore({ labels, bySymbol }: SavedGroups): void {
    this.#codes.clear();
    for (const [column, names] of labels) {
      this.#codes.set(column, new Map(names.map((name, code) => [name, code])));
    }
    for (const [column, entries] of bySymbol)
      this.#bySymbol.set(column, new Map([...(this.#bySymbol.get(column) ?? []), ...entries]));
    this.updateSymbols();
  }
}

export const GROUPS: ArgumentKind = {
  what: "labels by symbol",
  fits: isRecord,
  remedy: 'give them as { sector: { AAPL: "tech", F: "cars" } }',
};

const LABELS: ArgumentKind = { ...GROUPS, fits: (given) => types.isMap(given) || isRecord(given) };

function entriesOf(labels: LabelsBySymbol): Iterable<[string, string | null]> {
  return types.isMap(labels) ? (labels as ReadonlyMap<string, string | null>) : Object.entries(labels);
}

/** Callers in JavaScript may pass anything. */
function labelOf(column: string, label: unknown): string | null {
  if (typeof label !== "string" && label !== null && label !== undefined)
    throw valueInvalid(column, label, "a text");
  return label ?? null;
}

/**
 * The codes of a bar's labels.
 *
 * @throws DataError E383 if their number is not `count`, for a label that is no text.
 */
export function codesOfLabels(
  codes: GroupCodes,
  column: string,
  labels: readonly (string | null)[],
  count: number,
): Int32Array {
  checkArgument(`the group column ${column}`, labels, LIST);
  if (labels.length !== count) throw lengthWrong(column, labels.length, count);
  return Int32Array.from(labels, (label) => codes.codeOf(column, labelOf(column, label)));
}
