import { Xoshiro128 } from "../../src/bench/random.ts";
import { criticalPathWeights } from "../../src/plan/weights.ts";
import { lognormal } from "./part_costs.ts";
import type { SimulatedNode } from "./simulation.ts";

/** Nodes cost about so much, with a spread of `COST_SIGMA`. */
const COST_NS = 50_000;
const COST_SIGMA = 1;

const BYTES = 40_000;

/** The inputs of each node, all of them before it. */
type Edges = number[][];

/** Families of random graphs, of about a thousand nodes each. */
export const RANDOM_GRAPHS: Readonly<Record<string, (random: Xoshiro128) => Edges>> = {
  /** Layers of random width; a node reads up to three of the layer before, now and then one further back. */
  layered: (random) => {
    const edges: Edges = [];
    let before: number[] = [];
    for (let layer = 0; layer < 30; layer++) {
      const width = 5 + below(random, 80);
      const all = edges.length;
      const own = Array.from({ length: width }, () => {
        const reads =
          before.length === 0
            ? []
            : draw(random, 1 + below(random, 3), (pick) => before[pick]!, before.length);
        if (all > 0 && random.uniform() < 0.2) reads.push(below(random, all));
        return edges.push([...new Set(reads)]) - 1;
      });
      before = own;
    }
    return edges;
  },
  /** Long chains beside a crowd of short ones. */
  chains: (random) => {
    const edges: Edges = [];
    const chain = (length: number) => {
      for (let link = 0; link < length; link++) edges.push(link === 0 ? [] : [edges.length - 1]);
    };
    for (let i = 0; i < 300; i++) chain(1 + below(random, 5));
    for (let i = 0; i < 4; i++) chain(60 + below(random, 60));
    return edges;
  },
  /** Many nodes that read one of a few, and few that gather them. */
  wide: (random) => {
    const edges: Edges = Array.from({ length: 20 }, () => []);
    for (let i = 0; i < 1500; i++) edges.push([below(random, 20)]);
    for (let i = 0; i < 50; i++) edges.push(draw(random, 10, (pick) => 20 + pick, 1500));
    return edges;
  },
  /** Forks that join again, one behind the other, twenty rows of them beside each other. */
  diamonds: (random) => {
    const edges: Edges = [];
    for (let row = 0; row < 20; row++) {
      let joint = edges.push([]) - 1;
      for (let i = 0; i < 8; i++) {
        const branches = Array.from({ length: 2 + below(random, 8) }, () => edges.push([joint]) - 1);
        joint = edges.push(branches) - 1;
      }
    }
    return edges;
  },
};

/** A graph of a family: costs, sizes and edges depend on the seed only. */
export function randomGraph(family: string, seed: number): SimulatedNode[] {
  const random = Xoshiro128.seeded(BigInt(seed));
  const edges = RANDOM_GRAPHS[family]!(random);
  const costsNs = edges.map(() => Math.round(COST_NS * lognormal(random, COST_SIGMA)));
  const weights = criticalPathWeights(
    costsNs,
    edges.map((inputs) => ({ inputs })),
  );
  return edges.map((inputs, node) => ({
    kind: inputs.length === 0 ? "source" : inputs.length === 1 ? "chain" : "join",
    inputs,
    partCount: 1,
    costNs: costsNs[node]!,
    weight: weights[node]!,
    bytes: Math.round(BYTES * lognormal(random, COST_SIGMA)),
    moveNs: BYTES / 10,
  }));
}

/** A whole number from 0 and below `end`. */
function below(random: Xoshiro128, end: number): number {
  return Math.floor(random.uniform() * end);
}

function draw(random: Xoshiro128, count: number, at: (pick: number) => number, end: number): number[] {
  return [...new Set(Array.from({ length: count }, () => at(below(random, end))))];
}
