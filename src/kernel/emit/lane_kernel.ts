import type { Mask, StepBuilder, Value } from "../../operator/lowering.ts";
import type { RowWalk, Series, WindowBuilder, WindowState } from "../../operator/window_code.ts";
import type { Plan } from "../../plan/plan.ts";
import { GROUP_BYTES, NodeVectors, type StateLayout, type StateRecord } from "../memory/state_layout.ts";
import { VALUE_BYTES, VECTOR_BYTES, VECTORS } from "../memory/vectors.ts";
import { Code } from "./code.ts";
import { type I32, type I32Local, locals, parameter, parameters } from "./expressions.ts";
import type { HostFunctions } from "./host_functions.ts";
import { LaneCode } from "./lane_code.ts";
import type { Library } from "./library.ts";
import { forSome } from "./loops.ts";
import { takes } from "./module.ts";
import { countKeysBelow, NULL_KEYS, SLOT_BYTES } from "./packed_keys.ts";
import { type EmptyRow, type RingPlace, RowAddresses } from "./row_addresses.ts";

/** First row, rows, first and last byte of the lanes, addresses of the state before and after, and of the windows. */
export const LANE_KERNEL = takes(7);

const SLOTS_PER_VECTOR = GROUP_BYTES / SLOT_BYTES;

/** What the kernels of a plan have in common while they are emitted. */
export interface KernelContext {
  readonly library: Library;
  readonly plan: Plan;
  readonly layout: StateLayout;
  readonly host: HostFunctions;
  /** By number, what is known of every window state of the plan; kernels add theirs. */
  readonly records: StateRecord[];
  /** Refuses a state that executors would not know. */
  readonly checkState: (kind: string) => void;
}

/** A state of a node: its layout and its number in the plan. */
export interface PlacedState {
  readonly layout: object;
  readonly number: number;
}

/**
 * Emits the kernel of one lanes node: rows in the outer loop, several lanes at a time in the inner one. All tasks of
 * the node are computed for those lanes and one row before the next lanes; what later rows or other nodes read is
 * stored to its column.
 */
export class LaneKernel extends LaneCode implements WindowBuilder {
  readonly nodeVectors: NodeVectors;
  /** What the states of the node have reserved, by key. */
  readonly placed = new Map<string, PlacedState>();
  readonly #context: KernelContext;
  readonly #row: I32Local;
  /** Byte offset of the lanes within a row. */
  readonly #lane: I32Local;
  /** Addresses of the first lane's state. */
  readonly #from: I32Local;
  readonly #to: I32Local;
  readonly #window: I32Local;
  readonly #main: Code;
  /** Address of the lanes in the current row. */
  readonly #at: I32Local;
  readonly #addresses: RowAddresses;
  readonly #shared = new Map<string, unknown>();
  /** Bits of the lanes that the current task leaves open. */
  readonly #openLanes: I32Local;
  /** True if code of the current task may leave a lane open. */
  #mayBeOpen = false;

  /** @param emptyRow gives the row that stands for those before the first one of the call; null if they are read */
  constructor(
    main: Code,
    context: KernelContext,
    nodeVectors = new NodeVectors(),
    emptyRow: EmptyRow | null = null,
  ) {
    super(new Code(main.locals), context.library);
    this.nodeVectors = nodeVectors;
    this.#context = context;
    this.#main = main;
    [this.#row, this.#lane, this.#openLanes, this.#at] = locals(main, "i32", 4);
    [this.#from, this.#to, this.#window] = locals(main, "i32", 3);
    this.#addresses = new RowAddresses(main.locals, this.#row, context.plan.rowBytes, emptyRow);
  }

  get laneCount(): number {
    return this.#context.plan.laneCount;
  }

  /** Wraps the emitted code in its loops. */
  finish(): void {
    const main = this.#main;
    const [firstRow, rowCount, laneStart, laneEnd, fromBase, toBase, windowBase] = parameters(main, 7);
    const { recurrences, windows } = this.nodeVectors;
    const [endRow, from] = locals(main, "i32", 2);
    const runLanes = () => {
      this.#findState(from, this.#from, recurrences.length);
      this.#findState(toBase, this.#to, recurrences.length);
      this.#findState(windowBase, this.#window, windows.length);
      main.insert(this.lanesCode);
    };
    endRow.set(this.#row.tee(firstRow).add(rowCount));
    from.set(fromBase);
    forSome(this.#row, endRow, () => {
      main.insert(this.#addresses.code);
      this.#lane.set(laneStart);
      forSome(this.#lane, laneEnd, runLanes, VECTORS * VECTOR_BYTES);
      from.set(toBase);
    });
  }

  /** The code that runs for the lanes of a turn. */
  protected get lanesCode(): Code {
    return this.code;
  }

  /** Sets a local to the address of the lanes' state, given the number of vectors per lane. */
  #findState(base: I32, target: I32Local, vectorCount: number): void {
    if (vectorCount === 0) return;
    const group = this.#lane.shiftRight(Math.log2(GROUP_BYTES)).mul(vectorCount * GROUP_BYTES);
    target.set(group.add(this.#lane.and(GROUP_BYTES - 1)).add(base));
  }

  /** The value of a column in the current row. */
  load(column: number): Value {
    return this.loadRing(this.#placeOf(column), 0);
  }

  /** A series argument, given its value in the current row. */
  series(now: Value, column: number, range: Series["range"]): Series {
    return { now, column, range };
  }

  lag({ now, column }: Series, rows: number): Value {
    return rows === 0 ? now : this.loadRing(this.#placeOf(column), rows);
  }

  loadRing(ring: RingPlace, rows: number): Value {
    this.#findLanes(ring, rows);
    return this.loadAt(this.#at, 0);
  }

  storeRing(ring: RingPlace, x: Value): void {
    this.#findLanes(ring, 0);
    this.storeAt(this.#at, 0, x);
  }

  /** Sets the local to the address of this turn's lanes in a row of the ring. */
  #findLanes(place: RingPlace, lagRows: number): void {
    this.code.get(this.#addresses.of(place, lagRows)).get(this.#lane).op("i32.add").set(this.#at);
  }

  /** Stores today's value; in an output every null becomes the same NaN. */
  store(column: number, x: Value): void {
    const isOutput = this.#context.plan.outputs.some((output) => output.column === column);
    this.storeRing(this.#placeOf(column), isOutput ? this.keep(this.eq(x, x), x) : x);
  }

  loadRecurrence(vector: number): Value {
    return this.loadAt(this.#from, vector * GROUP_BYTES);
  }

  storeRecurrence(vector: number, x: Value): void {
    this.storeAt(this.#to, vector * GROUP_BYTES, x);
  }

  loadVector(vector: number): Value {
    return this.loadAt(this.#window, vector * GROUP_BYTES);
  }

  storeVector(vector: number, x: Value): void {
    this.storeAt(this.#window, vector * GROUP_BYTES, x);
  }

  loadVectorAt(first: number, index: Value): Value {
    const { code } = this;
    // The last bits of the sum are the index: unlike a conversion, this needs no branch, after which V8 would not join
    // vectors.
    const inside = this.keepOrZero(this.gt(index, this.number(0)), index);
    const carrier = this.add(inside, this.number(2 ** 52));
    const address = (part: number, lane: 0 | 1) => {
      this.push(carrier, part);
      code.extractLane("i64", lane).op("i32.wrap_i64").i32(GROUP_BYTES).op("i32.mul");
      code.get(this.#window).op("i32.add");
      return first * GROUP_BYTES + part * VECTOR_BYTES + lane * VALUE_BYTES;
    };
    return this.take((part) => {
      code.memory("v128.load64_splat", address(part, 0));
      code.memory("f64.load", address(part, 1)).replaceLane("f64", 1);
    });
  }

  state<Of, Layout extends object, Now>(state: WindowState<Of, Layout, Now>, of: Of): Now {
    const key = `${state.kind}: ${state.keyOf(of)}`;
    return this.once(key, () => {
      const { layout, number } = this.place(key, state, of);
      return state.emit(this, layout as Layout, of, number);
    });
  }

  /** Reserves what a state keeps. */
  protected place<Of, Layout extends object, Now>(
    key: string,
    state: WindowState<Of, Layout, Now>,
    of: Of,
  ): PlacedState {
    const { records, layout, checkState } = this.#context;
    checkState(state.kind);
    const { laneCount } = this;
    const own = state.reserve(
      {
        laneCount,
        vectors: (initial) => this.nodeVectors.addWindow(initial),
        keys: (slots) =>
          this.nodeVectors.addWindow(new Array(Math.ceil(slots / SLOTS_PER_VECTOR)).fill(NULL_KEYS)),
        ring: (historyRows, initial) => layout.addRing(historyRows, initial),
      },
      of,
    );
    const placed = { layout: own, number: records.push({ kind: state.kind, layout: own }) - 1 };
    this.placed.set(key, placed);
    return placed;
  }

  /**
   * Makes the host evaluate the task for the lanes of this turn by its reference; arguments go through the scratch
   * space.
   */
  evaluateByReference(task: number, cells: readonly Value[], recurrence: number): Value {
    this.storeScratch(1, ...cells);
    const code = this.#pushCells(task);
    const stateOffset = recurrence * GROUP_BYTES;
    code.get(this.#from).i32(stateOffset).op("i32.add").get(this.#to).i32(stateOffset).op("i32.add");
    code.call(this.#context.host.evaluate);
    return this.loadScratch(0);
  }

  /** The number of the current row, as a vector. */
  get rowNumber(): Value {
    return this.once("row", () => {
      this.code.get(this.#row).op("f64.convert_i32_u").op("f64x2.splat");
      return this.takeSame();
    });
  }

  countKeysBelow(first: number, slots: number, x: Value, ofTied: () => Value): Value {
    const { code } = this;
    const [today] = locals(code, "i32", 1);
    code.get(this.#addresses.turn(slots, SLOT_BYTES)).get(this.#window).op("i32.add").set(today);
    const at = { window: this.#window, offset: first * GROUP_BYTES, slots, today };
    return countKeysBelow(this, at, x, ofTied);
  }

  /** A value shared by several tasks of the node, emitted on first use. */
  once<T>(key: string, emit: () => T): T {
    if (!this.#shared.has(key)) this.#shared.set(key, this.persist(emit));
    return this.#shared.get(key) as T;
  }

  ensureBounds(state: number): void {
    this.#pushCells(state).call(this.#context.host.ensure);
  }

  /** Pushes what the host is called with first: a task or a state, and where the lanes of this turn are. */
  #pushCells(number: number): Code {
    return this.code.i32(number).get(this.#row).get(this.#lane);
  }

  walkRows(
    name: string,
    series: readonly Series[],
    rows: number,
    passed: readonly Value[],
    emit: (on: StepBuilder, walk: RowWalk, ...passed: Value[]) => readonly Value[],
  ): readonly Value[] {
    const { library, code } = this;
    const { plan } = this.#context;
    const signature = takes(3 * series.length + 2);
    const index = library.helper(`${name} ${library.idOf(emit)}`, signature, (body) => {
      const own = new LaneCode(body, library);
      const values = passed.map((_, i) => own.loadScratch(i));
      const results = emit(own, rowWalk(own, series.length), ...values);
      library.resultCounts.set(emit, results.length);
      own.storeScratch(0, ...results);
    });
    this.storeScratch(0, ...passed);
    for (const { column } of series) {
      const { byteOffset, ringRows } = plan.columns[column]!;
      code.get(this.#lane).i32(byteOffset).op("i32.add").i32(ringRows);
      code.get(this.#row).i32(ringRows).op("i32.rem_u");
    }
    code.i32(plan.rowBytes).i32(rows).call(index);
    return Array.from({ length: library.resultCounts.get(emit)! }, (_, i) => this.loadScratch(i));
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
      this.#pushCells(task).get(this.#openLanes).call(this.#context.host.evaluateOpen);
      this.scope(() => this.assign(result, this.loadScratch(0)));
    });
    return result;
  }

  leaveOpen(mask: Mask, state: number | null): void {
    const { code } = this;
    this.#mayBeOpen = true;
    this.ifAny(mask, () => {
      code.get(this.#openLanes);
      this.pushBits(mask);
      code.op("i32.or").set(this.#openLanes);
      if (state === null) return;
      this.#pushCells(state);
      this.pushBits(mask);
      code.call(this.#context.host.shrink);
    });
  }

  #placeOf(column: number): RingPlace {
    return this.#context.plan.columns[column]!;
  }
}

/** Parameters of the function: address of the lanes in slot 0, slots, today's slot of each series; bytes of a row, rows. */
function rowWalk(on: LaneCode, seriesCount: number): RowWalk {
  const { code } = on;
  const [rowBytes, rows] = [parameter(code, -2), parameter(code, -1)];
  const cursors = Array.from({ length: seriesCount }, (_, i) => ({
    base: parameter(code, 3 * i),
    slots: parameter(code, 3 * i + 1),
    slot: parameter(code, 3 * i + 2),
  }));
  return {
    get rowCount() {
      rows.to("f64.convert_i32_u").push().op("f64x2.splat");
      return on.takeSame();
    },
    each(emit) {
      const [at, left] = locals(code, "i32", 2);
      left.set(rows);
      code.loop((again) => {
        on.scope(() => {
          const values = cursors.map(({ base, slot }) => {
            at.set(slot.mul(rowBytes).add(base));
            return on.loadAt(at, 0);
          });
          emit(...values);
        });
        for (const { slots, slot } of cursors) slot.set(slot.select(slot, slots).sub(1));
        left.tee(left.sub(1)).branchTo(again);
      });
    },
  };
}
