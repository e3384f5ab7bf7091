import type { PartRunner } from "../../src/execution/part_runner.ts";
import type { PlanData } from "../../src/execution/protocol.ts";

/** A runner whose parts keep a core busy for as long as their node costs and touch no memory. */
export function openRunner({ plan }: PlanData): PartRunner {
  const partMs = plan.nodes.map(({ costNs, partCount }) => costNs / partCount / 1e6);
  return {
    run(node) {
      const ms = partMs[node]!;
      if (ms === 0) return;
      const end = performance.now() + ms;
      while (performance.now() < end);
    },
  };
}
