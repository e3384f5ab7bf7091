import { BlockRun } from "./block_run.ts";
import type { OpenedEvent, RunRequest } from "./events.ts";
import { MeasuredCosts } from "./measured_costs.ts";
import { NodeGraph } from "./node_graph.ts";
import type { ReadyOrder } from "./ready_order.ts";

/** An open plan: its graph, the costs of its nodes, and its runs under way. */
export class ScheduledPlan {
  readonly id: number;
  readonly graph: NodeGraph;
  readonly costs: MeasuredCosts;
  readonly #order: ReadyOrder;
  readonly #nodeNs: Float64Array | undefined;
  /** Runs that have not ended, in block order. */
  readonly #underWay: BlockRun[] = [];
  /** Ended runs, reused for the next blocks: a live session allocates nothing per row. */
  readonly #idle: BlockRun[] = [];

  constructor({ plan, nodes, nodeNs }: OpenedEvent, order: ReadyOrder) {
    this.id = plan;
    this.graph = new NodeGraph(nodes);
    this.costs = new MeasuredCosts(this.graph);
    this.#order = order;
    this.#nodeNs = nodeNs;
  }

  get underWay(): readonly BlockRun[] {
    return this.#underWay;
  }

  start(request: RunRequest): BlockRun {
    const run = this.#idle.pop() ?? new BlockRun(this.id, this.graph, this.#order);
    run.start(request, this.costs.weights, this.#underWay.at(-1) ?? null);
    this.#underWay.push(run);
    return run;
  }

  /** The first run under way has ended. */
  retireFirst(): void {
    const run = this.#underWay.shift()!;
    this.#idle.push(run);
    if (!run.isWhole) return;
    this.costs.note(run);
    if (this.#nodeNs)
      for (let node = 0; node < run.nodeNs.length; node++) this.#nodeNs[node]! += run.nodeNs[node]!;
  }
}
