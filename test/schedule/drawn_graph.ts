import type { SimulatedNode } from "../../bench/simulation/simulation.ts";
import { criticalPaths, inputsFirst } from "./random_graph.ts";

/** A node of a drawn graph; `cost` is the time in ns of all its parts together. */
export interface DrawnNode {
  readonly inputs?: readonly string[];
  readonly cost?: number;
  readonly partCount?: number;
  readonly bytes?: number;
}

export type Drawing = Readonly<Record<string, DrawnNode>>;

/** A drawing whose names get ids in a seeded random order, so that no test depends on ids. */
export class DrawnGraph {
  readonly nodes: readonly SimulatedNode[];
  readonly names: readonly string[];

  /** Weights are critical paths. */
  constructor(drawing: Drawing, seed: number) {
    const order = shuffle(Object.keys(drawing), seed);
    this.names = inputsFirst(order, (name) => drawing[name]!.inputs ?? []);
    const nodes = this.names.map((name) => {
      const { inputs = [], cost = 1, partCount = 1, bytes = 0 } = drawing[name]!;
      const ids = inputs.map((input) => this.idOf(input)).sort((a, b) => a - b);
      return { kind: "drawn", inputs: ids, partCount, costNs: cost, moveNs: 0, bytes };
    });
    const weights = criticalPaths(nodes);
    this.nodes = nodes.map((node, id) => ({ ...node, weight: weights[id]! }));
  }

  idOf(name: string): number {
    return this.names.indexOf(name);
  }
}

function shuffle<T>(items: readonly T[], seed: number): T[] {
  const random = seededRandom(seed);
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
  }
  return shuffled;
}

/** Numbers in [0, 1) that depend on the seed only (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
