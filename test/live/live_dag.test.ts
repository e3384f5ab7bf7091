import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { liveDag } from "../../src/live/live_dag.ts";

const program = compile("urgent = close priority 2\nusual = rank(close) priority 1\nspare = ema(close, 3)");
const options = { disabledPasses: new Set<string>(), series: [] };

/** Priority of the factors that a run may leave out, null for those that it may not. */
function gated(priorities: Readonly<Record<string, number>>) {
  const { factors, gates } = liveDag(finalDag(program), { ...options, priorities });
  return Object.fromEntries(
    factors.map(({ name, gateId }) => [name, gateId === null ? null : gates[gateId]!.priority]),
  );
}

describe("without time for all factors", () => {
  test("the most urgent are never left out, all others may be", () => {
    expect(gated({})).toEqual({ urgent: null, usual: 1, spare: 0 });
  });

  test("priorities of the session come before those of the file", () => {
    expect(gated({ spare: 3 })).toEqual({ urgent: 2, usual: 1, spare: null });
  });
});
