import fc from "fast-check";
import type { ScheduledNode } from "../../src/schedule/events.ts";

const draft = fc.record({
  inputPicks: fc.array(fc.nat(), { maxLength: 3 }),
  partCount: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 5 })),
  // Whole numbers, so that sums of measured times are exact.
  partNs: fc.constantFrom(0, 1000, 20_000, 60_000, 1_000_000),
  moveNs: fc.constantFrom(0, 5000, 200_000),
  idPick: fc.nat(),
});

/** The nodes in this order, but what one reads before it. */
export function inputsFirst<T>(nodes: readonly T[], inputsOf: (node: T) => readonly T[]): T[] {
  const placed = new Set<T>();
  while (placed.size < nodes.length)
    placed.add(
      nodes.find((node) => !placed.has(node) && inputsOf(node).every((input) => placed.has(input)))!,
    );
  return [...placed];
}

/** Random graphs of up to `nodeCountMax` nodes, with random ids. Weights are critical paths, or all 0. */
export function randomGraphs(nodeCountMax: number): fc.Arbitrary<readonly ScheduledNode[]> {
  const drafts = fc.array(draft, { maxLength: nodeCountMax, size: "max" });
  return fc.tuple(drafts, fc.nat(9)).map(([drawn, weightPick]) => {
    const byPick = drawn
      .map((_, index) => index)
      .sort((a, b) => drawn[a]!.idPick - drawn[b]!.idPick || a - b);
    const read = drawn.map(({ inputPicks }, index) =>
      index === 0 ? [] : inputPicks.map((pick) => pick % index),
    );
    const idOf = new Map(inputsFirst(byPick, (index) => read[index]!).map((index, id) => [index, id]));
    const nodes = new Array<Omit<ScheduledNode, "weight">>(drawn.length);
    drawn.forEach(({ partCount, partNs, moveNs }, index) => {
      const inputs = read[index]!.map((input) => idOf.get(input)!);
      nodes[idOf.get(index)!] = {
        inputs: [...new Set(inputs)],
        partCount,
        costNs: partNs * partCount,
        moveNs,
        keepsRows: partNs % 3 === 0,
      };
    });
    const weights = criticalPaths(nodes);
    return nodes.map((node, id) => ({ ...node, weight: weightPick === 0 ? 0 : weights[id]! }));
  });
}

/** For each node the largest sum of costs on any path to a sink, by definition. */
export function criticalPaths(nodes: readonly Omit<ScheduledNode, "weight">[]): number[] {
  const known = new Map<number, number>();
  const weigh = (node: number): number => {
    const readers = nodes.flatMap(({ inputs }, reader) => (inputs.includes(node) ? [reader] : []));
    const { costNs, partCount } = nodes[node]!;
    const weight = known.get(node) ?? costNs / partCount + Math.max(0, ...readers.map(weigh));
    known.set(node, weight);
    return weight;
  };
  return nodes.map((_, node) => weigh(node));
}
