import { expect, test, vi } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { emitKernels } from "../../src/kernel/compile/compile_kernels.ts";
import { cachedModule, compiled } from "../../src/kernel/compile/compile_optimised.ts";
import { formPlan } from "../../src/plan/form.ts";
import { atOnce, compileKernels } from "./at_once.ts";

/** Polls of a millisecond each; V8 needs some ten of them, more on a busy machine. */
const LOOKS_MAX = 2900;

test("nodes of rows share a function where they do the same, and nowhere else", () => {
  const text = "a = rank(x)\nb = rank(y)\nc = scale(x, 1)\nd = scale(y, 2)\ne = group_rank(x, g)";
  const dag = finalDag(compile(text, { fields: ["x", "y"], groups: ["g"] }));
  const plan = formPlan(dag, { laneCount: 8, blockRows: 4, executorCount: 1 });
  const options = { reference: false, executorCount: 1 };
  const { module, arenaBytes, scratchByteOffset } = compileKernels(plan, builtInRegistry, options);
  const pages = arenaBytes / 65_536;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const scratch = new WebAssembly.Global({ value: "i32" }, scratchByteOffset);
  const names = ["evaluate", "ensure", "shrink", "evaluateOpen", "segment", "row"];
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

test("V8 is waited for as long as it compiles, also for the kernels of sessions", async () => {
  const dag = finalDag(compile("a = ts_corr(close, volume, 13)\nb = rank(a)"));
  const plan = formPlan(dag, { laneCount: 8, blockRows: 1, executorCount: 1 });
  const options = { reference: false, executorCount: 1, finishedRows: 1 };
  const timers = vi.spyOn(globalThis, "setTimeout");
  try {
    await compiled(atOnce(emitKernels(plan, builtInRegistry, options)).compile());
    // A function that was never called is polled some 3,000 times.
    expect(timers.mock.calls.length).toBeLessThan(LOOKS_MAX);
  } finally {
    timers.mockRestore();
  }
});

test("what has not been tried is not waited for", () => {
  // (module (func (export "a")) (func (export "b")))
  const hex = "0061736d01000000010401600000030302000007090201610000016200010a070202000b02000b";
  const compiling = cachedModule(new Uint8Array(Buffer.from(hex, "hex")), {
    imports: {},
    tryOut: ({ a }) => {
      (a as () => void)();
      return [a];
    },
  });
  const neverChanged = new Int32Array(new SharedArrayBuffer(4));
  let looks = 0;
  let step = compiling.next();
  for (; !step.done; step = compiling.next()) {
    looks++;
    Atomics.wait(neverChanged, 0, 0, 1);
  }
  expect(step.value).toBeInstanceOf(WebAssembly.Module);
  expect(looks).toBeLessThan(LOOKS_MAX);
});
