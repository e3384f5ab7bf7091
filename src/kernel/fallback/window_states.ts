import { UsageError } from "../../errors.ts";
import type { Registry } from "../../operator/registry.ts";
import type { AnyWindowState } from "../../operator/window_code.ts";
import { WINDOW_STATES } from "../../rolling/state/index.ts";
import type { Arena } from "../memory/arena.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import type { NodeState } from "../memory/state_layout.ts";
import { NodeStateRows } from "./state_rows.ts";

/** By kind the states of the built-in operators and of a registry's others. @throws UsageError E549. */
function statesOf(registry: Registry): ReadonlyMap<string, AnyWindowState> {
  const known = new Map(WINDOW_STATES.map((state) => [state.kind, state]));
  for (const state of registry.windowStates) {
    if ((known.get(state.kind) ?? state) !== state)
      throw stateUnknown(`two window states are called ${state.kind}`);
    known.set(state.kind, state);
  }
  return known;
}

/** A check that executors, which have the operators of the registry, know a state. @throws UsageError E549. */
export function stateCheck(registry: Registry): (kind: string) => void {
  const known = statesOf(registry);
  return (kind) => {
    if (!known.has(kind)) throw stateUnknown(`the window state ${kind} is carried, and no operator lists it`);
  };
}

const stateUnknown = (problem: string): UsageError =>
  new UsageError("E549", problem, "list it in states of the operator's definition, under a name of its own");

interface PlacedState {
  readonly state: AnyWindowState;
  readonly layout: object;
  readonly node: NodeState;
}

/**
 * The window states of a plan. They are rebuilt from the rows in the columns when a part was interrupted or a node was
 * skipped, and when a value does not fit the bounds of a lane.
 */
export class WindowStates {
  readonly #states: readonly PlacedState[];
  readonly #rows: NodeStateRows;

  constructor({ states }: KernelSet, registry: Registry, arena: Arena) {
    const known = statesOf(registry);
    this.#states = [...states.values()].flatMap((node) =>
      node.records.map(({ kind, layout }) => ({ state: known.get(kind)!, layout, node })),
    );
    this.#rows = new NodeStateRows(arena, this.#states[0]?.node as NodeState);
  }

  /** Runs the body as if history began with a row. */
  beginningWith(firstRow: number, body: () => void): void {
    this.#rows.firstRow = firstRow;
    try {
      body();
    } finally {
      this.#rows.firstRow = 0;
    }
  }

  /** Writes a state of a lane as of the end of `row`, with bounds that suit its window. */
  rebuild(number: number, row: number, lane: number): void {
    this.#rebuild(this.#select(number), row, row, lane);
  }

  /** The window vectors of its node that hold bounds of a state. */
  boundVectors(number: number): readonly number[] {
    const { state, layout } = this.#states[number]!;
    return state.bounds?.vectors(layout) ?? [];
  }

  /** Where a lane has no bounds yet: chooses some that suit the window that ends with `row`. */
  chooseFirstBounds(number: number, row: number, lane: number): void {
    const { state, layout, node } = this.#select(number);
    const { bounds } = state;
    const isNew = (vector: number) => this.#rows.read(vector, lane) === node.windows[vector];
    if (bounds?.vectors(layout).every(isNew)) bounds.choose(this.#rows, layout, row, lane);
  }

  /** Where the value of `row` reaches the bounds of a lane: writes the state as of the row before with others. */
  ensureBounds(number: number, row: number, lane: number): void {
    const placed = this.#select(number);
    const { state, layout } = placed;
    if (state.bounds!.isReached(this.#rows, layout, row, lane)) this.#rebuild(placed, row, row - 1, lane);
  }

  /** Where the bounds of a lane are far above its values: writes the state as of `row` with smaller ones. */
  shrinkBounds(number: number, row: number, lane: number): void {
    const placed = this.#select(number);
    const { state, layout } = placed;
    if (state.bounds?.isWide(this.#rows, layout, row, lane) === true) this.#rebuild(placed, row, row, lane);
  }

  #select(number: number): PlacedState {
    const placed = this.#states[number]!;
    this.#rows.select(placed.node);
    return placed;
  }

  #rebuild({ state, layout }: PlacedState, boundRow: number, row: number, lane: number): void {
    state.bounds?.choose(this.#rows, layout, boundRow, lane);
    state.rebuild(this.#rows, layout, row, lane);
  }
}
