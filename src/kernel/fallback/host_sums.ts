import { low, twoProduct } from "../../exact/double_double.ts";
import {
  FRESH_BOUND,
  type LinearSite,
  linearHeadroom,
  NEVER,
  NO_BOUND,
  UNIT_BOUND,
} from "../windows/linear.ts";
import type { QuadraticSite } from "../windows/quadratic.ts";
import { HEADROOM_EXPONENT } from "../windows/scales.ts";
import { splitFactors } from "../windows/splits.ts";
import type { HostState } from "./host_state.ts";

/** Exponents of the largest and smallest bounds of exact sums; windows beyond them use references. */
const LINEAR_EXPONENTS = { least: -700, most: 960 } as const;
const QUADRATIC_EXPONENTS = { least: -400, most: 400 } as const;

/** A bound this many times above what would be chosen today wastes too many bits. */
const WASTE = 2 ** 3;

/** The bound of zeros that need one; any would do. */
const BOUND_OF_ZEROS = 1;

/** Windows of at most this many values may be narrow by chance. */
const FEW_VALUES = 2;

/**
 * Maximum headroom is 2^(17 - headBits) above the spread; beyond it more than about 1 in 10,000 variances would need
 * the reference.
 */
const ROOM_EXPONENT = 17;

/** The bound of a lane, and the pivot that is subtracted from its values. */
interface Scale {
  bound: number;
  pivot: number;
}

/**
 * Chooses the bounds of exact sums, and adds the sums up again from the rows in the columns. Most lanes need it in the
 * first rows of a panel, before V8 has compiled any JavaScript. So numbers are kept in arrays of doubles and loops are
 * plain: V8 then compiles each function once, and early.
 */
export class HostSums {
  readonly #state: HostState;
  /** The last choice. */
  readonly #scale: Scale = { bound: 0, pivot: 0 };
  /** For each column of a window its bound, pivot, rows, and deviation in one of them. */
  #bounds = new Float64Array(0);
  #pivots = new Float64Array(0);
  #deviations = new Float64Array(0);
  readonly #windows: Float64Array[] = [];
  /** Sums in two parts each. */
  #parts = new Float64Array(4);

  constructor(state: HostState) {
    this.#state = state;
  }

  /**
   * Chooses new bounds if the value of `row` exceeds those of the lane, and adds up the window as of the row before.
   */
  repairLinear(site: LinearSite, row: number, lane: number): void {
    if (site.bound === null || !this.#isOutside(site.bound, null, site.column, row, lane, false)) return;
    this.remakeLinear(site, row, row - 1, lane);
  }

  repairQuadratic(site: QuadraticSite, row: number, lane: number): void {
    for (let i = 0; i < site.scales.length; i++) {
      const scale = site.scales[i]!;
      if (scale === null) continue;
      if (!this.#isOutside(scale.bound, scale.pivot, site.columns[i]!, row, lane, site.isJoint)) continue;
      this.remakeQuadratic(site, row, row - 1, lane);
      return;
    }
  }

  /** Chooses smaller bounds if those of the lane are far above its values. */
  tightenLinear(site: LinearSite, row: number, lane: number): void {
    if (site.bound === null) return;
    if (this.#isWasteful(site.bound, this.#linearBound(site, row, lane), lane)) {
      this.remakeLinear(site, row, row, lane);
    }
  }

  tightenQuadratic(site: QuadraticSite, row: number, lane: number): void {
    for (let i = 0; i < site.scales.length; i++) {
      const scale = site.scales[i]!;
      if (scale === null) continue;
      this.#chooseScale(site, i, row, lane);
      if (!this.#isWasteful(scale.bound, this.#scale.bound, lane)) continue;
      this.remakeQuadratic(site, row, row, lane);
      return;
    }
  }

  /** @param zerosNeedBound as of `openScales` */
  #isOutside(
    bound: number,
    pivot: number | null,
    column: number,
    row: number,
    lane: number,
    zerosNeedBound: boolean,
  ): boolean {
    const value = this.#state.arena.cell(column, row, lane);
    const deviation = pivot === null ? value : value - this.#state.read(pivot, lane);
    if (deviation === 0 && !zerosNeedBound) return false;
    return Math.abs(deviation) >= this.#state.read(bound, lane);
  }

  #isWasteful(bound: number, needed: number, lane: number): boolean {
    return !(this.#state.read(bound, lane) <= needed * WASTE);
  }

  /** Chooses a bound for the window and what follows up to `boundRow`, and adds up the window as of `row`. */
  remakeLinear(site: LinearSite, boundRow: number, row: number, lane: number): void {
    const { column, windowRows, headBits } = site;
    if (site.bound !== null) this.#state.write(site.bound, lane, this.#linearBound(site, boundRow, lane));
    const bound = site.bound === null ? UNIT_BOUND : this.#state.read(site.bound, lane);
    const { first, second } = splitFactors(headBits);
    const parts = this.#parts;
    const ofRamp = 2;
    parts.fill(Number.isNaN(bound) ? Number.NaN : 0);
    let truncated = NEVER;
    const values = this.#state.window(column, row, windowRows, lane);
    for (let weight = 1; weight <= windowRows; weight++) {
      const value = values[weight - 1]!;
      truncated++;
      if (Number.isNaN(value)) continue;
      const inRange = Math.abs(value) < bound ? value : 0;
      const head = headOf(inRange, bound * first);
      const tail = headOf(inRange - head, bound * second);
      if (head + tail !== value) truncated = 0;
      parts[0]! += head;
      parts[1]! += tail;
      parts[ofRamp]! += weight * head;
      parts[ofRamp + 1]! += weight * tail;
    }
    if (site.truncated !== null) this.#state.write(site.truncated, lane, truncated);
    this.#writeParts(site.sum, lane, 0);
    if (site.ramp !== null) this.#writeParts(site.ramp, lane, ofRamp);
  }

  #linearBound({ column, windowRows, headBits }: LinearSite, row: number, lane: number): number {
    let largest = 0;
    const count = Math.min(row, windowRows) + 1;
    const values = this.#state.window(column, row, count, lane);
    for (let i = 0; i < count; i++) {
      const magnitude = Math.abs(values[i]!);
      if (magnitude > largest && magnitude < Number.POSITIVE_INFINITY) largest = magnitude;
    }
    if (largest === 0) return FRESH_BOUND;
    const { least, most } = LINEAR_EXPONENTS;
    // Without a bound the sums are NaN, and the reference is run.
    if (exponentAbove(largest) > most) return NO_BOUND;
    return 2 ** Math.min(most, Math.max(least, exponentAbove(largest) + linearHeadroom(headBits)));
  }

  #writeParts(vector: number, lane: number, at: number): void {
    this.#state.write(vector, lane, this.#parts[at]!);
    this.#state.write(vector + 1, lane, this.#parts[at + 1]!);
  }

  /** `remakeLinear` for sums of deviations and of their products. */
  remakeQuadratic(site: QuadraticSite, boundRow: number, row: number, lane: number): void {
    const columnCount = site.columns.length;
    if (this.#bounds.length < columnCount) {
      this.#bounds = new Float64Array(columnCount);
      this.#pivots = new Float64Array(columnCount);
      this.#deviations = new Float64Array(columnCount);
    }
    const rows = Math.min(row + 1, site.windowRows);
    let hasBounds = true;
    for (let i = 0; i < columnCount; i++) {
      this.#openScale(site, i, boundRow, lane);
      hasBounds &&= !Number.isNaN(this.#bounds[i]);
    }
    for (let i = 0; i < columnCount; i++) {
      this.#windows[i] = this.#state.window(site.columns[i]!, row, rows, lane, i);
    }
    this.#addUpQuadratic(site, rows, hasBounds ? 0 : Number.NaN, lane);
  }

  /** Chooses the scale of a column, if it has one, and stores it in `#bounds`. */
  #openScale(site: QuadraticSite, i: number, row: number, lane: number): void {
    const scale = site.scales[i]!;
    if (scale === null) {
      this.#bounds[i] = UNIT_BOUND;
      this.#pivots[i] = 0;
      return;
    }
    this.#chooseScale(site, i, row, lane);
    const { bound, pivot } = this.#scale;
    this.#bounds[i] = bound;
    this.#pivots[i] = pivot;
    this.#state.write(scale.bound, lane, bound);
    this.#state.write(scale.pivot, lane, pivot);
  }

  /**
   * The pivot is a value of the window if all are near it, else 0, which stays valid when values drift. Differences
   * from it are exact: they are below half of the pivot (Sterbenz).
   */
  #chooseScale(site: QuadraticSite, i: number, row: number, lane: number): void {
    let candidate = Number.NaN;
    let spread = 0;
    let largest = 0;
    let count = 0;
    const rows = Math.min(row, site.windowRows) + 1;
    const values = this.#state.window(site.columns[i]!, row, rows, lane);
    for (let r = rows - 1; r >= 0; r--) {
      const value = values[r]!;
      if (!Number.isFinite(value)) continue;
      if (Number.isNaN(candidate)) candidate = value;
      count++;
      spread = Math.max(spread, Math.abs(value - candidate));
      largest = Math.max(largest, Math.abs(value));
    }
    const scale = this.#scale;
    scale.pivot = 0;
    if (largest === 0) {
      scale.bound = site.isJoint ? BOUND_OF_ZEROS : FRESH_BOUND;
      return;
    }
    const { least: leastExponent, most } = QUADRATIC_EXPONENTS;
    if (exponentAbove(largest) > most) {
      scale.bound = NO_BOUND;
      return;
    }
    const size = Math.abs(candidate);
    // A constant window gets room for values that differ from it in their last twenty bits.
    const width = exponentAbove(spread === 0 ? size * 2 ** -32 : spread);
    const room = Math.max(HEADROOM_EXPONENT, ROOM_EXPONENT - site.headBits);
    const far = exponentAbove(largest) + HEADROOM_EXPONENT;
    // The larger the bound, the longer values may drift; up to half of the pivot differences from it are exact.
    const near = Math.min(width + room, exponentAbove(size) - 2);
    const isFar = width + room >= far || width + HEADROOM_EXPONENT > near || count <= FEW_VALUES;
    scale.bound = 2 ** Math.max(leastExponent, isFar ? far : near);
    if (!isFar) scale.pivot = candidate;
  }

  /** Sums over the rows of the windows that were read. */
  #addUpQuadratic(site: QuadraticSite, rows: number, nothing: number, lane: number): void {
    const { sums, products, isJoint } = site;
    const { first, second } = splitFactors(site.headBits);
    const [bounds, deviations] = [this.#bounds, this.#deviations];
    const ofProducts = 2 * sums.length;
    const partCount = ofProducts + 2 * products.length;
    if (this.#parts.length < partCount) this.#parts = new Float64Array(partCount);
    const parts = this.#parts;
    parts.fill(nothing);
    let count = 0;
    for (let r = 0; r < rows; r++) {
      const missing = this.#deviate(r, sums.length);
      if (missing !== MISSING.null) count++;
      if (isJoint && missing !== MISSING.nothing) continue;
      for (let i = 0; i < sums.length; i++) {
        addSplit(parts, 2 * i, deviations[i]!, 0, bounds[i]! * first, bounds[i]! * second);
      }
      for (let k = 0; k < products.length; k++) {
        const { i, j } = products[k]!;
        const bound = bounds[i]! * bounds[j]!;
        const high = twoProduct(deviations[i]!, deviations[j]!);
        addSplit(parts, ofProducts + 2 * k, high, low[0]!, bound * first, bound * second);
      }
    }
    for (let i = 0; i < sums.length; i++) this.#writeParts(sums[i]!, lane, 2 * i);
    for (let k = 0; k < products.length; k++) {
      this.#writeParts(products[k]!.vector, lane, ofProducts + 2 * k);
    }
    if (site.count !== null) this.#state.write(site.count, lane, count);
  }

  /**
   * The deviations of a row, 0 where a value is null or out of range. Returns what is missing; null wins over out of
   * range.
   */
  #deviate(row: number, columnCount: number): number {
    let missing: number = MISSING.nothing;
    for (let i = 0; i < columnCount; i++) {
      const value = this.#windows[i]![row]!;
      const deviation = value - this.#pivots[i]!;
      const isInside = Math.abs(deviation) < this.#bounds[i]!;
      this.#deviations[i] = isInside ? deviation : 0;
      if (Number.isNaN(value)) missing = MISSING.null;
      else if (!isInside && missing === MISSING.nothing) missing = MISSING.outside;
    }
    return missing;
  }
}

/** What a row of a window lacks. */
const MISSING = { nothing: 0, outside: 1, null: 2 } as const;

const double = new Float64Array(1);
/** Its low and its high half: memory of WebAssembly is little-endian, as is that of the supported machines. */
const halves = new Uint32Array(double.buffer);

/** Exponent of the smallest power of two above a magnitude; -Infinity for 0. */
function exponentAbove(magnitude: number): number {
  if (magnitude === 0) return Number.NEGATIVE_INFINITY;
  double[0] = magnitude;
  const biased = halves[1]! >>> 20;
  return biased > 0 ? biased - 1022 : exponentAbove(magnitude * 2 ** 54) - 54;
}

/** The part of a value that splitting with this constant keeps. */
function headOf(value: number, constant: number): number {
  return value + constant - constant;
}

/** Adds `high + lowPart`, split as the kernels do, to a sum in two parts. */
function addSplit(
  parts: Float64Array,
  at: number,
  high: number,
  lowPart: number,
  constant1: number,
  constant2: number,
): void {
  const head = headOf(high, constant1);
  parts[at]! += head;
  parts[at + 1]! += headOf(high - head + lowPart, constant2);
}
