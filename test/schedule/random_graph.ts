import fc from "fast-check";
import type { ScheduledNode } from "../../src/schedule/events.ts";

const draft = fc.record({
  inputPicks: fc.array(fc.nat(), { maxLength: 3 }),
  partCount: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 5 })),
  weight: fc.integer({ min: 1, max: 4 }),
  idPick: fc.nat(),
});

/** Random graphs of up to `nodeCountMax` nodes; ids are dealt out at random. */
export function randomGraphs(nodeCountMax: number): fc.Arbitrary<readonly ScheduledNode[]> {
  return fc.array(draft, { maxLength: nodeCountMax, size: "max" }).map((drafts) => {
    const byPick = drafts
      .map((_, index) => index)
      .sort((a, b) => drafts[a]!.idPick - drafts[b]!.idPick || a - b);
    const idOf = new Map(byPick.map((index, id) => [index, id]));
    const nodes = new Array<ScheduledNode>(drafts.length);
    drafts.forEach(({ inputPicks, partCount, weight }, index) => {
      const inputs = index === 0 ? [] : inputPicks.map((pick) => idOf.get(pick % index)!);
      nodes[idOf.get(index)!] = { inputs: [...new Set(inputs)], partCount, weight };
    });
    return nodes;
  });
}
