import type { Arena } from "../memory/arena.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { GROUP_LANES, type NodeState } from "../memory/state_layout.ts";
import type { Fact, FactSite } from "../windows/facts.ts";
import type { PositionsSite } from "../windows/line.ts";
import { NEVER } from "../windows/linear.ts";
import { type KeysSite, keyPosition, orderKey } from "../windows/rank_of_today.ts";
import type { CountSite, Site } from "../windows/sites.ts";
import type { SortedSite } from "../windows/sorted_window.ts";
import { HostLevels } from "./host_levels.ts";
import { HostState } from "./host_state.ts";
import { HostSums } from "./host_sums.ts";

/**
 * Rebuilds window state from the rows in the columns: when a lane's value exceeds the bound of its state, when a part
 * was interrupted, and when a node was skipped.
 */
export class HostWindows {
  readonly #arena: Arena;
  readonly #levels: HostLevels;
  readonly #sites: readonly Site[];
  readonly #states: readonly NodeState[];
  /** The arena as 32-bit integers. */
  readonly #keys: Int32Array<SharedArrayBuffer>;
  readonly #state: HostState;
  readonly #sums: HostSums;

  constructor({ sites, siteRanges, states }: KernelSet, arena: Arena, rowBytes: number) {
    this.#arena = arena;
    this.#keys = new Int32Array(arena.values.buffer);
    this.#levels = new HostLevels(arena, rowBytes);
    this.#sites = sites;
    this.#states = [...siteRanges].flatMap(([node, [first, end]]) =>
      new Array<NodeState>(end - first).fill(states.get(node)!),
    );
    this.#state = new HostState(arena, this.#states[0] as NodeState);
    this.#sums = new HostSums(this.#state);
  }

  /** Chooses new bounds for a lane if the value of `row` needs it; the state is then as of the row before. */
  repair(index: number, row: number, lane: number): void {
    const site = this.#open(index);
    if (site.kind === "linear") this.#sums.repairLinear(site, row, lane);
    else if (site.kind === "quadratic") this.#sums.repairQuadratic(site, row, lane);
  }

  /** Chooses smaller bounds if those of the lane are far above its values. */
  tighten(index: number, row: number, lane: number): void {
    const site = this.#open(index);
    if (site.kind === "linear") this.#sums.tightenLinear(site, row, lane);
    else if (site.kind === "quadratic") this.#sums.tightenQuadratic(site, row, lane);
  }

  /** Rebuilds the state as of the end of `row`, independently of what it was. */
  rebuild(index: number, row: number, lane: number): void {
    const site = this.#open(index);
    switch (site.kind) {
      case "fact":
        this.#state.write(site.vector, lane, this.#fact(site, row, lane));
        return;
      case "count":
        this.#state.write(site.vector, lane, this.#count(site, row, lane));
        return;
      case "linear":
        this.#sums.remakeLinear(site, row, row, lane);
        return;
      case "quadratic":
        this.#sums.remakeQuadratic(site, row, row, lane);
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
    this.#state.open(this.#states[index]!);
    return this.#sites[index]!;
  }

  #fact({ fact, columns }: FactSite, row: number, lane: number): number {
    return Math.min(...columns.map((column) => this.#factOf(fact, column, row, lane)));
  }

  #factOf(fact: Fact, column: number, row: number, lane: number): number {
    const historyRows = this.#arena.historyRows(column);
    const values = this.#state.window(column, row, historyRows, lane);
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
    const values = this.#state.window(column, row, windowRows, lane).subarray(0, windowRows);
    for (let i = 0; i < windowRows; i++) if (Number.isNaN(values[i])) values[i] = Number.POSITIVE_INFINITY;
    values.sort();
    for (let i = 0; i < windowRows; i++) this.#state.write(vector + i, lane, values[i]!);
  }

  #writeKeys({ column, windowRows, vector }: KeysSite, row: number, lane: number): void {
    const slots = windowRows - 1;
    const group = 2 * this.#state.positionOf(vector, lane - (lane % GROUP_LANES));
    const values = this.#state.window(column, row, slots, lane);
    for (let i = 0; i < slots; i++) {
      const slot = (row + 1 + i) % slots;
      this.#keys[group + keyPosition(slot, lane % GROUP_LANES)] = orderKey(values[i]!);
    }
  }

  #sumPositions({ column, windowRows, vector }: PositionsSite, row: number, lane: number): void {
    let [count, sum, squares] = [0, 0, 0];
    const values = this.#state.window(column, row, windowRows, lane);
    for (let position = 1; position <= windowRows; position++) {
      if (Number.isNaN(values[position - 1])) continue;
      count++;
      sum += position;
      squares += position ** 2;
    }
    this.#state.write(vector, lane, count);
    this.#state.write(vector + 1, lane, sum);
    this.#state.write(vector + 2, lane, squares);
  }

  #count({ column, windowRows, counts }: CountSite, row: number, lane: number): number {
    let count = 0;
    const values = this.#state.window(column, row, windowRows, lane);
    for (let i = 0; i < windowRows; i++) {
      const value = values[i]!;
      if (!Number.isNaN(value) && (counts === "valid" || value !== 0)) count++;
    }
    return count;
  }
}
