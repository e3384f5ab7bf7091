import type { ScheduledNode } from "../../src/schedule/events.ts";

/** A node of a graph drawn in a test; `cost` is the time that all its parts take together. */
export interface DrawnNode {
  readonly inputs?: readonly string[];
  readonly cost?: number;
  readonly partCount?: number;
}

export type Drawing = Readonly<Record<string, DrawnNode>>;

/** A drawing whose names were dealt out to ids in a seeded random order, so that no test leans on ids. */
export class DrawnGraph {
  readonly nodes: readonly ScheduledNode[];
  readonly names: readonly string[];
  readonly costs: readonly number[];

  /** Weights are critical paths unless `weightOf` says otherwise. */
  constructor(drawing: Drawing, seed: number, weightOf?: (name: string) => number) {
    this.names = shuffle(Object.keys(drawing), seed);
    const drawn = this.names.map((name) => drawing[name]!);
    this.costs = drawn.map((node) => node.cost ?? 1);
    const weights = criticalPaths(drawing);
    this.nodes = drawn.map((node, id) => ({
      inputs: (node.inputs ?? []).map((name) => this.idOf(name)).sort((a, b) => a - b),
      partCount: node.partCount ?? 1,
      weight: weightOf?.(this.names[id]!) ?? weights.get(this.names[id]!)!,
    }));
  }

  idOf(name: string): number {
    return this.names.indexOf(name);
  }
}

function criticalPaths(drawing: Drawing): Map<string, number> {
  const weights = new Map<string, number>();
  const weigh = (name: string): number => {
    const known = weights.get(name);
    if (known !== undefined) return known;
    const consumers = Object.keys(drawing).filter((other) => drawing[other]!.inputs?.includes(name));
    const weight = (drawing[name]!.cost ?? 1) + Math.max(0, ...consumers.map(weigh));
    weights.set(name, weight);
    return weight;
  };
  for (const name of Object.keys(drawing)) weigh(name);
  return weights;
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
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
