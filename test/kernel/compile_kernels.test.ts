import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { emitKernels } from "../../src/kernel/compile_kernels.ts";
import { formPlan } from "../../src/plan/form.ts";

const kernelsOf = (formula: string) => {
  const dag = finalDag(compile(`a = ${formula}`));
  const plan = formPlan(dag, { laneCount: 8, blockRows: 4, executorCount: 1 });
  return emitKernels(plan, builtInRegistry, { reference: false, executorCount: 1 });
};

test("what is to be done meanwhile is done once, for a new module and for one that is known", () => {
  const emitted = kernelsOf("ts_mean(close, 7) - open");
  const [fresh, known] = [0, 0].map((count) => ({ count }));
  const { module } = emitted.compile(() => fresh!.count++);
  expect(emitted.compile(() => known!.count++).module).toBe(module);
  expect([fresh!.count, known!.count]).toEqual([1, 1]);
});

test("what fails meanwhile fails the call, and the module is compiled by the next one", () => {
  const emitted = kernelsOf("ts_mean(close, 9) - open");
  const failing = () => {
    throw new RangeError("no memory");
  };
  expect(() => emitted.compile(failing)).toThrow("no memory");
  expect(emitted.compile().module).toBeInstanceOf(WebAssembly.Module);
});

test("nodes of rows share a function where they do the same, and nowhere else", () => {
  const text = "a = rank(x)\nb = rank(y)\nc = scale(x, 1)\nd = scale(y, 2)\ne = group_rank(x, g)";
  const dag = finalDag(compile(text, { fields: ["x", "y"], groups: ["g"] }));
  const plan = formPlan(dag, { laneCount: 8, blockRows: 4, executorCount: 1 });
  const options = { reference: false, executorCount: 1 };
  const { module, arenaBytes, scratchByteOffset } = emitKernels(plan, builtInRegistry, options).compile();
  const pages = arenaBytes / 65_536;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const scratch = new WebAssembly.Global({ value: "i32" }, scratchByteOffset);
  const names = ["evaluate", "repair", "tighten", "decide", "segment", "row"];
  const calls = Object.fromEntries(names.map((name) => [name, () => {}]));
  const { exports } = new WebAssembly.Instance(module, { host: { memory, scratch, ...calls } });
  const functionOf = (factor: string) => {
    const { column } = plan.outputs.find(({ name }) => name === factor)!;
    return exports[`node${plan.nodes.find(({ columns }) => columns.includes(column))!.id}`];
  };
  const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(functionOf);
  expect(a).toBeInstanceOf(Function);
  expect(b).toBe(a);
  expect(new Set([a, c, d, e]).size).toBe(4);
});
