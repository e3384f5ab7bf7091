import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { CallParams } from "../../src/call_params.ts";
import { compile } from "../../src/compile.ts";
import { wantedFactors } from "../../src/evaluation/wanted_factors.ts";

const TEXT = "param p = 1\na = rank(close) when p == 1\nb = ts_mean(close, 5) when p == 2\nc = b + 1";

/** Each factor with its output in the graph of the call, and the factors of that graph. */
async function wanted(
  text: string,
  p: number,
  disabledPasses: readonly string[],
  select?: readonly string[],
) {
  const program = compile(text, { disabledPasses });
  const params = await CallParams.of(program, { kind: "date" }, { params: { p } }, builtInRegistry);
  const { factors, dag, prunedTaskCount } = wantedFactors(program, select, params, [0]);
  const drawn = factors.map(({ name, output }) => [name, output === null ? null : dag.outputs[output]?.name]);
  return { factors: Object.fromEntries(drawn), graph: dag.outputs.map(({ name }) => name), prunedTaskCount };
}

describe("what a call computes", () => {
  test("is what is wanted and what that depends on", async () => {
    expect(await wanted(TEXT, 2, [])).toEqual({
      factors: { a: null, b: "b", c: "c" },
      graph: ["b", "c"],
      prunedTaskCount: 1,
    });
  });

  test("is all that is selected where conditions are not propagated; the unwanted stay null", async () => {
    const off = ["propagate_conditions"];
    expect(await wanted(TEXT, 2, off)).toEqual({
      factors: { a: null, b: "b", c: "c" },
      graph: ["a", "b", "c"],
      prunedTaskCount: 0,
    });
    expect(await wanted(TEXT, 2, off, ["a", "c"])).toEqual({
      factors: { a: null, c: "c" },
      graph: ["a", "c"],
      prunedTaskCount: 0,
    });
  });
});
