import type { Mask, Series, Value } from "../../operator/lowering.ts";
import type { Operand, Plan } from "../../plan/plan.ts";
import { GROUP_BYTES, NodeVectors, type Ring, type StateLayout } from "../memory/state_layout.ts";
import type { Site } from "../windows/sites.ts";
import { Code, type Local } from "./code.ts";
import { LaneCode } from "./lane_code.ts";
import type { Library } from "./library.ts";
import type { Signature } from "./module.ts";
import { type RingPlace, RowAddresses } from "./row_addresses.ts";
import { VECTOR_BYTES, VECTORS } from "./vectors.ts";

/** First row, rows, first and last byte of the lanes, addresses of the state before and after, and of the windows. */
export const LANE_KERNEL: Signature = {
  parameters: ["i32", "i32", "i32", "i32", "i32", "i32", "i32"],
  results: [],
};

/** Indices of the host functions that kernels call. */
export interface HostFunctions {
  /** task, row, byte of the lane, address of the state before and after: writes the results to scratch. */
  readonly evaluate: number;
  /** site, row, byte of the lane: rebuilds a window's state as of the row before. */
  readonly repair: number;
  /** site, row, byte of the lane, lanes as bits: makes the bounds of those lanes fit their values better. */
  readonly tighten: number;
  /** task, row, byte of the lane, lanes as bits: writes the results of those lanes to scratch. */
  readonly decide: number;
}

/** A series argument as the kernel knows it. */
export interface ColumnSeries extends Series {
  readonly column: number;
  /** The range of all its values, if known: 0..1 or -1..1. */
  readonly range: "unit" | "signed_unit" | null;
}

/** A value whose earlier rows are kept in a ring. */
export interface KeptValue {
  readonly today: Value;
  readonly ring: Ring;
}

/**
 * Emits the kernel of one lanes node: rows in the outer loop, several lanes at a time in the inner one. All tasks of
 * the node are computed for those lanes and one row before the next lanes; what later rows or other nodes read is
 * stored to its column.
 */
export class LaneKernel extends LaneCode {
  readonly plan: Plan;
  readonly state = new NodeVectors();
  readonly #layout: StateLayout;
  readonly host: HostFunctions;
  readonly row: Local;
  /** Byte offset of the lanes within a row. */
  readonly lane: Local;
  /** Addresses of the first lane's state. */
  readonly from: Local;
  readonly to: Local;
  readonly window: Local;
  readonly #main: Code;
  /** Address of the lanes in the current row. */
  readonly #at: Local;
  readonly #addresses: RowAddresses;
  readonly #made = new Map<string, unknown>();
  readonly #sites: Site[];
  /** Emits code for 32-bit values: the lanes of a turn need half as many vectors. */
  readonly half: LaneCode;
  /** Bits of the lanes in which a statistic of the current task is open. */
  readonly #openLanes: Local;
  /** True if code of the current task may leave a lane open. */
  #mayBeOpen = false;

  constructor(
    main: Code,
    library: Library,
    plan: Plan,
    layout: StateLayout,
    host: HostFunctions,
    sites: Site[],
  ) {
    super(new Code(main.locals), library);
    this.half = new LaneCode(this.code, library, VECTORS / 2);
    this.#sites = sites;
    this.#main = main;
    this.plan = plan;
    this.#layout = layout;
    this.host = host;
    this.row = main.locals.add("i32");
    this.#addresses = new RowAddresses(main.locals, this.row, plan.rowBytes);
    this.lane = main.locals.add("i32");
    this.#openLanes = main.locals.add("i32");
    this.#at = main.locals.add("i32");
    this.from = main.locals.add("i32");
    this.to = main.locals.add("i32");
    this.window = main.locals.add("i32");
  }

  /** Wraps the emitted code in its loops. */
  finish(): void {
    const main = this.#main;
    const [firstRow, rowCount, laneStart, laneEnd, fromBase, toBase, windowBase] = main.locals.parameters;
    const endRow = main.locals.add("i32");
    const from = main.locals.add("i32");
    main.get(firstRow).tee(this.row).get(rowCount).op("i32.add").set(endRow);
    main.get(fromBase).set(from);
    main.loop((nextRow) => {
      main.insert(this.#addresses.code);
      main.get(laneStart).set(this.lane);
      main.loop((nextLanes) => {
        this.#findState(from, this.from, this.state.recurrences.length);
        this.#findState(toBase, this.to, this.state.recurrences.length);
        this.#findState(windowBase, this.window, this.state.windows.length);
        main.insert(this.code);
        main
          .get(this.lane)
          .i32(VECTORS * VECTOR_BYTES)
          .op("i32.add")
          .tee(this.lane);
        main.get(laneEnd).op("i32.lt_u").branchIf(nextLanes);
      });
      main.get(toBase).set(from);
      main.get(this.row).i32(1).op("i32.add").tee(this.row);
      main.get(endRow).op("i32.lt_u").branchIf(nextRow);
    });
  }

  /** Sets a local to the address of the lanes' state, given the number of vectors per lane. */
  #findState(base: Local, target: Local, vectorCount: number): void {
    if (vectorCount === 0) return;
    const main = this.#main;
    main
      .get(this.lane)
      .i32(Math.log2(GROUP_BYTES))
      .op("i32.shr_u")
      .i32(vectorCount * GROUP_BYTES)
      .op("i32.mul");
    main
      .get(this.lane)
      .i32(GROUP_BYTES - 1)
      .op("i32.and")
      .op("i32.add")
      .get(base)
      .op("i32.add")
      .set(target);
  }

  /** The value of a column `lagRows` rows ago. */
  load(column: number, lagRows: number): Value {
    return this.loadRow(this.#placeOf(column), lagRows);
  }

  /** The value of a ring of this kernel `lagRows` rows ago. */
  loadRow(place: RingPlace, lagRows: number): Value {
    this.#findLanes(place, lagRows);
    return this.loadAt(this.#at, 0);
  }

  /** Stores today's value in a ring of this kernel. */
  storeRow(place: RingPlace, x: Value): void {
    this.#findLanes(place, 0);
    this.storeAt(this.#at, 0, x);
  }

  /** Sets the local to the address of this turn's lanes in a row of the ring. */
  #findLanes(place: RingPlace, lagRows: number): void {
    this.code.get(this.#addresses.of(place, lagRows)).get(this.lane).op("i32.add").set(this.#at);
  }

  /** Stores today's value; in an output every null becomes the same NaN. */
  store(column: number, x: Value): void {
    const isOutput = this.plan.outputs.some((output) => output.column === column);
    this.storeRow(this.#placeOf(column), isOutput ? this.keep(this.eq(x, x), x) : x);
  }

  loadRecurrence(vector: number): Value {
    return this.#loadVector(this.from, vector);
  }

  storeRecurrence(vector: number, x: Value): void {
    this.#storeVector(this.to, vector, x);
  }

  loadWindow(vector: number): Value {
    return this.#loadVector(this.window, vector);
  }

  /** Gathers window vector `vector + index` per lane; a null or negative index reads `vector`. */
  loadWindowAt(vector: number, index: Value): Value {
    const { code } = this;
    // The last bits of the sum are the index: unlike a conversion, this needs no branch, after which V8 would not join
    // vectors.
    const inside = this.keepOrZero(this.gt(index, this.number(0)), index);
    const carrier = this.add(inside, this.number(2 ** 52));
    const address = (part: number, lane: 0 | 1) => {
      this.push(carrier, part);
      code.extractLane("i64", lane).op("i32.wrap_i64").i32(GROUP_BYTES).op("i32.mul");
      code.get(this.window).op("i32.add");
      return vector * GROUP_BYTES + part * VECTOR_BYTES + lane * Float64Array.BYTES_PER_ELEMENT;
    };
    return this.take((part) => {
      code.memory("v128.load64_splat", address(part, 0));
      code.memory("f64.load", address(part, 1)).replaceLane("f64", 1);
    });
  }

  storeWindow(vector: number, x: Value): void {
    this.#storeVector(this.window, vector, x);
  }

  /** Address of this row's slot in the window state, where rows take the slots in turn. */
  windowTurn(slots: number, slotBytes: number): Local {
    this.code.get(this.#addresses.turn(slots, slotBytes)).get(this.window).op("i32.add").set(this.#at);
    return this.#at;
  }

  /**
   * Makes the host evaluate the task for the lanes of this turn by its reference; arguments go through the scratch
   * space.
   */
  evaluateByReference(task: number, cells: readonly Value[], recurrence: number): Value {
    const { code } = this;
    cells.forEach((cell, i) => {
      this.storeScratch(i + 1, cell);
    });
    code.i32(task).get(this.row).get(this.lane);
    const stateOffset = recurrence * GROUP_BYTES;
    code.get(this.from).i32(stateOffset).op("i32.add").get(this.to).i32(stateOffset).op("i32.add");
    code.call(this.host.evaluate);
    return this.loadScratch(0);
  }

  /** The number of the current row, as a vector. */
  get rowNumber(): Value {
    return this.once("row", () => {
      this.code.get(this.row).op("f64.convert_i32_u").op("f64x2.splat");
      return this.takeSame();
    });
  }

  /** A value shared by several tasks of the node, emitted on first use. */
  once(key: string, emit: () => Value): Value {
    return this.onceMade(key, emit, (value) => [value]);
  }

  /** Like `once`, for any object made of values, which `valuesOf` lists. */
  onceMade<T>(key: string, emit: () => T, valuesOf: (made: T) => readonly Value[]): T {
    let made = this.#made.get(key) as T | undefined;
    if (made === undefined) {
      this.persistAll(() => {
        made = emit();
        return valuesOf(made);
      });
      this.#made.set(key, made);
    }
    return made as T;
  }

  /**
   * Like `onceMade`, for a value whose last `historyRows` rows are kept in a private ring that the host can rebuild.
   */
  onceKept(
    key: string,
    historyRows: number,
    initial: number,
    siteOf: (ring: Ring) => Site,
    emit: () => Value,
  ): KeptValue {
    const keep = (): KeptValue => {
      const ring = this.#layout.addRing(historyRows, initial);
      this.noteSite(siteOf(ring));
      const today = emit();
      this.storeRow(ring, today);
      return { today, ring };
    };
    return this.onceMade(key, keep, ({ today }) => [today]);
  }

  /** Makes the host rebuild the window state of a site for the lanes of this turn that need it. */
  repair(site: number): void {
    this.code.i32(site).get(this.row).get(this.lane).call(this.host.repair);
  }

  /** Registers window state that the host rebuilds after an interrupted part; returns its index. */
  noteSite(site: Site): number {
    return this.#sites.push(site) - 1;
  }

  /**
   * The code of a task that computes statistics: lanes in which one of them is open get the result of the task's
   * reference. Null if there is no code.
   */
  withFallback(task: number, emit: () => Value | null): Value | null {
    this.#mayBeOpen = false;
    this.code.i32(0).set(this.#openLanes);
    const value = emit();
    if (value === null || !this.#mayBeOpen) return value;
    const result = this.copy(value);
    this.code.get(this.#openLanes).if(() => {
      this.storeScratch(0, result);
      this.code.i32(task).get(this.row).get(this.lane).get(this.#openLanes).call(this.host.decide);
      this.scope(() => {
        this.assign(result, this.loadScratch(0));
        return [];
      });
    });
    return result;
  }

  /**
   * Marks the lanes in which a statistic is open: the task's reference gives their final result.
   *
   * @param site the sums that left it open, whose bound may be too large; null if there are none
   */
  leaveOpen(mask: Mask, site: number | null): void {
    const { code } = this;
    this.#mayBeOpen = true;
    this.ifAny(mask, () => {
      code.get(this.#openLanes);
      this.pushBits(mask);
      code.op("i32.or").set(this.#openLanes);
      if (site === null) return;
      code.i32(site).get(this.row).get(this.lane);
      this.pushBits(mask);
      code.call(this.host.tighten);
    });
  }

  #loadVector(base: Local, vector: number): Value {
    return this.loadAt(base, vector * GROUP_BYTES);
  }

  #storeVector(base: Local, vector: number, x: Value): void {
    this.storeAt(base, vector * GROUP_BYTES, x);
  }

  #placeOf(column: number): RingPlace {
    return this.plan.columns[column]!;
  }
}

/** The value of an argument in the current row. */
export function operandValue(
  kernel: LaneKernel,
  operand: Operand,
  inNode: ReadonlyMap<number, Value>,
): Value {
  if (operand.kind === "number") return kernel.number(operand.value);
  if (operand.kind === "column") return kernel.load(operand.column, 0);
  return inNode.get(operand.task) ?? kernel.load(kernel.plan.tasks[operand.task]!.column as number, 0);
}
