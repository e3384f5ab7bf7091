import fc from "fast-check";
import type { ScheduledNode } from "../../src/schedule/events.ts";

/** A random graph and which of its nodes a call wants. */
export interface RandomGraph {
  readonly nodes: readonly ScheduledNode[];
  readonly wanted: Uint8Array;
}

const draft = fc.record({
  inputPicks: fc.array(fc.nat(), { maxLength: 3 }),
  partCount: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 5 })),
  weight: fc.integer({ min: 1, max: 4 }),
  isOutput: fc.boolean(),
  isWanted: fc.boolean(),
  idPick: fc.nat(),
});

/** Random graphs of up to `nodeCountMax` nodes; ids are dealt out at random, and what wanted nodes read is wanted. */
export function randomGraphs(nodeCountMax: number): fc.Arbitrary<RandomGraph> {
  return fc.array(draft, { maxLength: nodeCountMax, size: "max" }).map((drafts) => {
    const byPick = drafts
      .map((_, index) => index)
      .sort((a, b) => drafts[a]!.idPick - drafts[b]!.idPick || a - b);
    const idOf = new Map(byPick.map((index, id) => [index, id]));
    const nodes = new Array<ScheduledNode>(drafts.length);
    const wanted = new Uint8Array(drafts.length);
    drafts.forEach(({ inputPicks, partCount, weight, isOutput }, index) => {
      const inputs = index === 0 ? [] : inputPicks.map((pick) => idOf.get(pick % index)!);
      nodes[idOf.get(index)!] = { inputs: [...new Set(inputs)], partCount, weight, isOutput };
    });
    for (let index = drafts.length - 1; index >= 0; index--) {
      const id = idOf.get(index)!;
      if (drafts[index]!.isWanted) wanted[id] = 1;
      if (wanted[id]) for (const input of nodes[id]!.inputs) wanted[input] = 1;
    }
    return { nodes, wanted };
  });
}
