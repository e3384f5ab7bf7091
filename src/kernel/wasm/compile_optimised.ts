import { setFlagsFromString } from "node:v8";

/**
 * How V8 compiles by default: lazily, and at first by a compiler that makes code of half the speed. Inlining reads
 * counts that only that first compiler takes.
 */
const USUAL_FLAGS = ["--liftoff", "--wasm-lazy-compilation", "--wasm-inlining"];
const OPTIMISING_FLAGS = ["--no-liftoff", "--no-wasm-lazy-compilation", "--no-wasm-inlining"];

/**
 * Compiles a module by the optimising compiler at once, so that its first call is as fast as any later one. The flags
 * are V8's own and hold for the whole process: they are set for as long as the call lasts.
 *
 * @throws WebAssembly.CompileError if the bytes are no valid module.
 */
export function compileOptimised(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  for (const flag of OPTIMISING_FLAGS) setFlagsFromString(flag);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    for (const flag of USUAL_FLAGS) setFlagsFromString(flag);
  }
}
