import { type EmittedKernels, emitKernels } from "../../src/kernel/compile/compile_kernels.ts";
import type { KernelSet } from "../../src/kernel/memory/kernel_set.ts";

const neverChanged = new Int32Array(new SharedArrayBuffer(4));

/** Does all steps of a work, with a pause of this thread between them. */
export function atOnce<T>(work: Generator<unknown, T>, pauseMs = 0): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value as T;
    if (pauseMs > 0) Atomics.wait(neverChanged, 0, 0, pauseMs);
  }
}

/** Emits and compiles the nodes of a plan. */
export function compileKernels(...of: Parameters<typeof emitKernels>): KernelSet {
  const kernels: EmittedKernels = atOnce(emitKernels(...of));
  return atOnce(kernels.compile(), 1);
}
