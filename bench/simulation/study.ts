import { type Figures, figuresOf } from "./figures.ts";
import { type End, machineCosts } from "./machine.ts";
import { POLICIES } from "./orders.ts";
import { RANDOM_GRAPHS, randomGraph } from "./random_graphs.ts";
import { REAL_GRAPHS, realPlan } from "./real_plans.ts";
import { simulate } from "./simulate.ts";
import type { SimulatedNode, Simulation, SimulationOptions } from "./simulation.ts";

/** Names of the graphs: real plans first, then random ones. */
export const GRAPH_NAMES: readonly string[] = [...Object.keys(REAL_GRAPHS), ...Object.keys(RANDOM_GRAPHS)];

export const ORDER_NAMES: readonly string[] = POLICIES.map(({ name }) => name);

export interface StudyOptions {
  /** One of `GRAPH_NAMES`. */
  readonly graph: string;
  readonly executors: number;
  readonly blocks: number;
  /** Of real plans. */
  readonly lanes: number;
  readonly blockRows: number;
  /** One of `ORDER_NAMES`. */
  readonly order: string;
  readonly isStealing: boolean;
  readonly queueNs?: number | undefined;
  readonly queuePartsMin?: number | undefined;
  readonly noise: number;
  readonly seed: number;
  /** Which end of what is known of machines. */
  readonly machine: End;
}

export const STUDY_DEFAULTS = {
  graph: "published",
  blocks: 1,
  lanes: 5000,
  blockRows: 64,
  order: "critical-path",
  isStealing: true,
  noise: 0,
  seed: 1,
  machine: "worst",
} as const satisfies Partial<StudyOptions>;

export interface Study {
  readonly nodes: readonly SimulatedNode[];
  readonly simulation: Simulation;
  readonly figures: Figures;
}

/** What the graph is, in words. */
export function graphSummary({ graph, lanes, blockRows, seed }: Omit<StudyOptions, "executors">): string {
  if (!(graph in REAL_GRAPHS)) return `random graph ${graph}, seed ${seed}`;
  return `plan of ${graph}, ${lanes.toLocaleString("en")} lanes, ${blockRows} rows a block`;
}

/** Simulates one graph under one policy. */
export function runStudy(study: StudyOptions): Study {
  const { graph, seed } = study;
  const nodes = graph in REAL_GRAPHS ? realPlan(graph, study) : randomGraph(graph, seed);
  const options = simulationOptions(study, nodes);
  const simulation = simulate(nodes, options);
  return { nodes, simulation, figures: figuresOf(nodes, options, simulation) };
}

function simulationOptions(study: StudyOptions, nodes: readonly SimulatedNode[]): SimulationOptions {
  const { executors, blocks, noise, seed, isStealing, machine, queueNs, queuePartsMin } = study;
  const policy = POLICIES.find(({ name }) => name === study.order)!;
  return {
    executors,
    blocks,
    areRows: study.blockRows === 1,
    noise,
    seed,
    machine: machineCosts(executors, machine),
    scheduler: { order: policy.order(seed), isStealing, queueNs, queuePartsMin },
    estimates: policy.hasWeights ? nodes : nodes.map((node) => ({ ...node, weight: 0 })),
  };
}
