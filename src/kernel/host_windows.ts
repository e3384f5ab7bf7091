import { low, twoProduct } from "../exact/double_double.ts";
import type { Arena } from "./arena.ts";
import { HostLevels } from "./host_levels.ts";
import type { KernelSet } from "./kernel_set.ts";
import type { CountSite, Site } from "./sites.ts";
import { GROUP_LANES, type NodeState, vectorPosition } from "./state_layout.ts";
import { cutFactors } from "./windows/cuts.ts";
import type { Fact, FactSite } from "./windows/facts.ts";
import type { PositionsSite } from "./windows/line.ts";
import { type LinearSite, linearHeadroom, NEVER, NO_BOUND, UNIT_BOUND } from "./windows/linear.ts";
import type { SortedSite } from "./windows/order.ts";
import { type KeysSite, keyPosition, orderKey } from "./windows/order_keys.ts";
import type { QuadraticSite } from "./windows/quadratic.ts";
import { HEADROOM_EXPONENT } from "./windows/scales.ts";

/** Largest and smallest bounds of exact sums; what is above or below them is left to the references. */
const LINEAR_EXPONENTS = { least: -700, most: 960 } as const;
const QUADRATIC_EXPONENTS = { least: -400, most: 400 } as const;

/** A bound this many powers of two above what would be chosen today wastes too many bits. */
const WASTED_EXPONENT = 3;

/** Windows of so few values are narrow by chance. */
const FEW_VALUES = 2;

/**
 * A bound may be so many powers of two above a window's spread, less its head bits: then what the sums drop decides the
 * last bit of about one variance in ten thousand.
 */
const ROOM_EXPONENT = 17;

/** A value cut in two; made once and reused. */
const cut = { first: 0, second: 0 };

/**
 * Makes the state of windows anew from the rows in the columns: when a lane meets a value that its state has no room
 * for, when a part was cut off in the middle, and when a node was skipped.
 */
export class HostWindows {
  readonly #arena: Arena;
  readonly #levels: HostLevels;
  readonly #sites: readonly Site[];
  /** For each site the state of its node. */
  readonly #states: readonly NodeState[];
  readonly #rows: Float64Array[] = [];
  /** The arena as whole numbers of 32 bits. */
  readonly #keys: Int32Array<SharedArrayBuffer>;
  /** State of the site that is worked on. */
  #state: NodeState;

  constructor({ sites, siteRanges, states }: KernelSet, arena: Arena, rowBytes: number) {
    this.#arena = arena;
    this.#keys = new Int32Array(arena.values.buffer);
    this.#levels = new HostLevels(arena, rowBytes);
    this.#sites = sites;
    this.#states = [...siteRanges].flatMap(([node, [first, end]]) =>
      new Array<NodeState>(end - first).fill(states.get(node)!),
    );
    this.#state = this.#states[0] as NodeState;
  }

  /** Chooses new bounds for a lane that needs them, such that the value of `row` fits, as of the row before. */
  repair(index: number, row: number, lane: number): void {
    const site = this.#open(index);
    if (site.kind === "linear") {
      if (site.bound === null || !this.#isOutside(site.bound, null, site.column, row, lane)) return;
      this.#remake(site, row, row - 1, lane);
    } else if (site.kind === "quadratic") {
      const isOutside = site.scales.some(
        (scale, i) => scale && this.#isOutside(scale.bound, scale.pivot, site.columns[i]!, row, lane),
      );
      if (isOutside) this.#remake(site, row, row - 1, lane);
    }
  }

  /** Chooses bounds anew if those of the lane are far above its values. */
  tighten(index: number, row: number, lane: number): void {
    if (index < 0) return;
    const site = this.#open(index);
    const isWasteful = (vector: number, needed: number) =>
      !(this.#read(vector, lane) <= needed * 2 ** WASTED_EXPONENT);
    if (site.kind === "linear") {
      if (site.bound === null || !isWasteful(site.bound, this.#linearBound(site, row, lane))) return;
      this.#remake(site, row, row, lane);
    } else if (site.kind === "quadratic") {
      const areWasteful = site.scales.some(
        (scale, i) => scale && isWasteful(scale.bound, this.#scaleOf(site, i, row, lane).bound),
      );
      if (areWasteful) this.#remake(site, row, row, lane);
    }
  }

  /** Makes the state anew as of the end of `row`, keeping no trace of what it was. */
  rebuild(index: number, row: number, lane: number): void {
    const site = this.#open(index);
    switch (site.kind) {
      case "fact":
        this.#write(site.vector, lane, this.#fact(site, row, lane));
        return;
      case "count":
        this.#write(site.vector, lane, this.#count(site, row, lane));
        return;
      case "linear":
      case "quadratic":
        this.#remake(site, row, row, lane);
        return;
      case "sorted":
        this.#sort(site, row, lane);
        return;
      case "keys":
        this.#writeKeys(site, row, lane);
        return;
      case "positions":
        this.#sumPositions(site, row, lane);
        return;
      case "level":
        this.#levels.rebuild(site, row, lane);
    }
  }

  #open(index: number): Site {
    this.#state = this.#states[index]!;
    return this.#sites[index]!;
  }

  #positionOf(vector: number, lane: number): number {
    const { windows, windowByteOffset } = this.#state;
    return windowByteOffset / Float64Array.BYTES_PER_ELEMENT + vectorPosition(windows.length, vector, lane);
  }

  #read(vector: number, lane: number): number {
    return this.#arena.values[this.#positionOf(vector, lane)]!;
  }

  #write(vector: number, lane: number, value: number): void {
    this.#arena.values[this.#positionOf(vector, lane)] = value;
  }

  /** The last rows of a lane up to `row`, oldest first, in memory that is reused for each place. */
  #window(column: number, row: number, rowCount: number, lane: number, place = 0): Float64Array {
    let window = this.#rows[place];
    if (window === undefined || window.length < rowCount) {
      window = new Float64Array(rowCount);
      this.#rows[place] = window;
    }
    this.#arena.copyLane(column, row - rowCount + 1, rowCount, lane, window);
    return window;
  }

  #isOutside(bound: number, pivot: number | null, column: number, row: number, lane: number): boolean {
    const deviation = this.#arena.cell(column, row, lane) - (pivot === null ? 0 : this.#read(pivot, lane));
    return Math.abs(deviation) >= this.#read(bound, lane);
  }

  /** Chooses bounds for the window and what follows up to `boundRow`, and adds up the window as of `row`. */
  #remake(site: LinearSite | QuadraticSite, boundRow: number, row: number, lane: number): void {
    if (site.kind === "linear") {
      if (site.bound !== null) this.#write(site.bound, lane, this.#linearBound(site, boundRow, lane));
      this.#sumLinear(site, row, lane);
    } else {
      this.#chooseScales(site, boundRow, lane);
      this.#sumQuadratic(site, row, lane);
    }
  }

  #linearBound({ column, windowRows, headBits }: LinearSite, row: number, lane: number): number {
    let largest = 0;
    const count = Math.min(row, windowRows) + 1;
    const values = this.#window(column, row, count, lane);
    for (let i = 0; i < count; i++) {
      const magnitude = Math.abs(values[i]!);
      if (magnitude > largest && magnitude < Number.POSITIVE_INFINITY) largest = magnitude;
    }
    if (largest === 0) return 1;
    const { least, most } = LINEAR_EXPONENTS;
    // Without a bound the sums are no numbers, and the reference is run.
    if (exponentAbove(largest) > most) return NO_BOUND;
    return 2 ** Math.min(most, Math.max(least, exponentAbove(largest) + linearHeadroom(headBits)));
  }

  #sumLinear(site: LinearSite, row: number, lane: number): void {
    const { column, windowRows, headBits } = site;
    const bound = site.bound === null ? UNIT_BOUND : this.#read(site.bound, lane);
    const factors = cutFactors(headBits);
    const nothing = Number.isNaN(bound) ? Number.NaN : 0;
    const sum = [nothing, nothing] as [number, number];
    const ramp = [nothing, nothing] as [number, number];
    let cutShort = NEVER;
    const values = this.#window(column, row, windowRows, lane);
    for (let weight = 1; weight <= windowRows; weight++) {
      const value = values[weight - 1]!;
      cutShort++;
      if (Number.isNaN(value)) continue;
      const inRange = Math.abs(value) < bound ? value : 0;
      cutAt(inRange, 0, bound * factors.first, bound * factors.second);
      if (cut.first + cut.second !== value) cutShort = 0;
      sum[0] += cut.first;
      sum[1] += cut.second;
      ramp[0] += weight * cut.first;
      ramp[1] += weight * cut.second;
    }
    if (site.cutShort !== null) this.#write(site.cutShort, lane, cutShort);
    this.#writePair(site.sum, lane, sum);
    if (site.ramp !== null) this.#writePair(site.ramp, lane, ramp);
  }

  #writePair(vector: number, lane: number, [first, second]: readonly [number, number]): void {
    this.#write(vector, lane, first);
    this.#write(vector + 1, lane, second);
  }

  #chooseScales(site: QuadraticSite, row: number, lane: number): void {
    site.scales.forEach((scale, i) => {
      if (!scale) return;
      const { bound, pivot } = this.#scaleOf(site, i, row, lane);
      this.#write(scale.bound, lane, bound);
      this.#write(scale.pivot, lane, pivot);
    });
  }

  /**
   * The pivot is a value of the window if all are near it, else 0, which needs no new choice when values drift.
   * Differences from it are exact: they are below half of the pivot (Sterbenz).
   */
  #scaleOf(site: QuadraticSite, i: number, row: number, lane: number): { bound: number; pivot: number } {
    const column = site.columns[i]!;
    let candidate = Number.NaN;
    let spread = 0;
    let largest = 0;
    let count = 0;
    const rows = Math.min(row, site.windowRows) + 1;
    const values = this.#window(column, row, rows, lane);
    for (let i = rows - 1; i >= 0; i--) {
      const value = values[i]!;
      if (!Number.isFinite(value)) continue;
      if (Number.isNaN(candidate)) candidate = value;
      count++;
      spread = Math.max(spread, Math.abs(value - candidate));
      largest = Math.max(largest, Math.abs(value));
    }
    if (largest === 0) return { bound: 1, pivot: 0 };
    const { least: leastExponent, most } = QUADRATIC_EXPONENTS;
    if (exponentAbove(largest) > most) return { bound: NO_BOUND, pivot: 0 };
    const size = Math.abs(candidate);
    // A constant window gets room for values that differ from it in their last twenty bits.
    const width = exponentAbove(spread === 0 ? size * 2 ** -32 : spread);
    const room = Math.max(HEADROOM_EXPONENT, ROOM_EXPONENT - site.headBits);
    const far = exponentAbove(largest) + HEADROOM_EXPONENT;
    // The larger the bound, the longer values may drift; up to half of the pivot differences from it are exact.
    const near = Math.min(width + room, exponentAbove(size) - 2);
    const isFar = width + room >= far || width + HEADROOM_EXPONENT > near || count <= FEW_VALUES;
    return isFar
      ? { bound: 2 ** Math.max(leastExponent, far), pivot: 0 }
      : { bound: 2 ** Math.max(leastExponent, near), pivot: candidate };
  }

  #sumQuadratic(site: QuadraticSite, row: number, lane: number): void {
    const bounds = site.scales.map((scale) => (scale ? this.#read(scale.bound, lane) : UNIT_BOUND));
    const nothing = bounds.some(Number.isNaN) ? Number.NaN : 0;
    const pivots = site.scales.map((scale) => (scale ? this.#read(scale.pivot, lane) : 0));
    const factors = cutFactors(site.headBits);
    const sums = site.sums.map((): [number, number] => [nothing, nothing]);
    const products = site.products.map((): [number, number] => [nothing, nothing]);
    let count = 0;
    const deviations = site.columns.map(() => 0);
    const rows = Math.min(row + 1, site.windowRows);
    const windows = site.columns.map((column, i) => this.#window(column, row, rows, lane, i));
    for (let r = 0; r < rows; r++) {
      let isComplete = true;
      let isPresent = true;
      for (let i = 0; i < deviations.length; i++) {
        const value = windows[i]![r]!;
        deviations[i] = value - pivots[i]!;
        isComplete &&= !Number.isNaN(value);
        if (Math.abs(deviations[i]!) < bounds[i]!) continue;
        isPresent = false;
        deviations[i] = 0;
      }
      if (isComplete) count++;
      if (site.isJoint && !isPresent) continue;
      sums.forEach((sum, i) => {
        const bound = bounds[i]!;
        cutAt(deviations[i]!, 0, bound * factors.first, bound * factors.second);
        sum[0] += cut.first;
        sum[1] += cut.second;
      });
      site.products.forEach(({ i, j }, k) => {
        const bound = bounds[i]! * bounds[j]!;
        const high = twoProduct(deviations[i]!, deviations[j]!);
        cutAt(high, low[0]!, bound * factors.first, bound * factors.second);
        products[k]![0] += cut.first;
        products[k]![1] += cut.second;
      });
    }
    site.sums.forEach((vector, i) => {
      this.#writePair(vector, lane, sums[i]!);
    });
    site.products.forEach(({ vector }, k) => {
      this.#writePair(vector, lane, products[k]!);
    });
    if (site.count !== null) this.#write(site.count, lane, count);
  }

  #fact({ fact, columns }: FactSite, row: number, lane: number): number {
    return Math.min(...columns.map((column) => this.#factOf(fact, column, row, lane)));
  }

  #factOf(fact: Fact, column: number, row: number, lane: number): number {
    const historyRows = this.#arena.historyRows(column);
    const values = this.#window(column, row, historyRows, lane);
    let rows = 0;
    for (; rows < historyRows; rows++) {
      const value = values[historyRows - 1 - rows]!;
      if (fact === "valid" && Number.isNaN(value)) return rows;
      if (fact === "finite" && !Number.isFinite(value)) return rows;
      if (fact === "bounded" && Math.abs(value) === Number.POSITIVE_INFINITY) return rows;
    }
    return fact === "bounded" ? NEVER : rows;
  }

  #sort({ column, windowRows, vector }: SortedSite, row: number, lane: number): void {
    const values = this.#window(column, row, windowRows, lane).subarray(0, windowRows);
    for (let i = 0; i < windowRows; i++) if (Number.isNaN(values[i])) values[i] = Number.POSITIVE_INFINITY;
    values.sort();
    for (let i = 0; i < windowRows; i++) this.#write(vector + i, lane, values[i]!);
  }

  #writeKeys({ column, windowRows, vector }: KeysSite, row: number, lane: number): void {
    const slots = windowRows - 1;
    const group = 2 * this.#positionOf(vector, lane - (lane % GROUP_LANES));
    const values = this.#window(column, row, slots, lane);
    for (let i = 0; i < slots; i++) {
      const slot = (row + 1 + i) % slots;
      this.#keys[group + keyPosition(slot, lane % GROUP_LANES)] = orderKey(values[i]!);
    }
  }

  #sumPositions({ column, windowRows, vector }: PositionsSite, row: number, lane: number): void {
    let [count, sum, squares] = [0, 0, 0];
    const values = this.#window(column, row, windowRows, lane);
    for (let position = 1; position <= windowRows; position++) {
      if (Number.isNaN(values[position - 1])) continue;
      count++;
      sum += position;
      squares += position ** 2;
    }
    this.#write(vector, lane, count);
    this.#write(vector + 1, lane, sum);
    this.#write(vector + 2, lane, squares);
  }

  #count({ column, windowRows, counts }: CountSite, row: number, lane: number): number {
    let count = 0;
    const values = this.#window(column, row, windowRows, lane);
    for (let i = 0; i < windowRows; i++) {
      const value = values[i]!;
      if (!Number.isNaN(value) && (counts === "valid" || value !== 0)) count++;
    }
    return count;
  }
}

const double = new Float64Array(1);
/** Its low and its high half; memory of WebAssembly is little-endian, and so is this. */
const halves = new Uint32Array(double.buffer);

/** The least power of two above a magnitude, as an exponent; -Infinity for 0. */
function exponentAbove(magnitude: number): number {
  if (magnitude === 0) return Number.NEGATIVE_INFINITY;
  double[0] = magnitude;
  const biased = halves[1]! >>> 20;
  return biased > 0 ? biased - 1022 : exponentAbove(magnitude * 2 ** 54) - 54;
}

/** Cuts `high + lowPart` as the kernels do. */
function cutAt(high: number, lowPart: number, cut1: number, cut2: number): void {
  cut.first = high + cut1 - cut1;
  const rest = high - cut.first + lowPart;
  cut.second = rest + cut2 - cut2;
}
