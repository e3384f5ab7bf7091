import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { joinsVectors } from "./joined_vectors.ts";

/** V8 compiles a function anew, and waits for it, once it has run for a moment; then as usual. */
const EAGER_FLAGS = ["--wasm-sync-tier-up", "--wasm-tiering-budget=1"];
const USUAL_FLAGS = ["--no-wasm-sync-tier-up", "--wasm-tiering-budget=13000000"];

const JOIN_FLAG = "--experimental-wasm-revectorize";
const DO_NOT_JOIN_FLAG = "--no-experimental-wasm-revectorize";

/** How often a function is tried: its code changes at the end of a call or of a turn of its loop. */
const TRIALS = 2;

/** Modules by the digest of their bytes, the one used last at the end. */
const modules = new Map<string, WebAssembly.Module>();

/** So many modules are kept; each holds its code, some megabytes. */
const MODULES_MAX = 16;

/** The module of these bytes: the one that was compiled before, if it is still there, else as `compileOptimised`. */
export function cachedModule(
  bytes: Uint8Array<ArrayBuffer>,
  imports: Readonly<Record<string, unknown>>,
  tryOut: (exports: WebAssembly.Exports) => void,
): WebAssembly.Module {
  const digest = createHash("sha256").update(bytes).digest("base64");
  const module = modules.get(digest) ?? compileOptimised(bytes, imports, tryOut);
  modules.delete(digest);
  modules.set(digest, module);
  const [oldest] = modules.keys();
  if (modules.size > MODULES_MAX) modules.delete(oldest as string);
  return module;
}

/**
 * Compiles a module such that the first call of a kernel is as fast as any later one. V8 compiles by a quick compiler
 * first, whose code takes twice the time, and by the optimising one when a function has turned out to be hot: here
 * every export is run on memory of its own under flags that make a moment hot. Threads that get the module share its
 * code. (Switching the quick compiler off for the moment ends the process if another thread compiles meanwhile.)
 *
 * @param tryOut calls the exports of an instance that works on nothing
 * @throws WebAssembly.CompileError if the bytes are no valid module.
 */
function compileOptimised(
  bytes: Uint8Array<ArrayBuffer>,
  imports: Readonly<Record<string, unknown>>,
  tryOut: (exports: WebAssembly.Exports) => void,
): WebAssembly.Module {
  const joins = joinsVectors();
  for (const flag of joins ? [...EAGER_FLAGS, JOIN_FLAG] : EAGER_FLAGS) setFlagsFromString(flag);
  try {
    const module = new WebAssembly.Module(bytes);
    const { exports } = new WebAssembly.Instance(module, { host: imports });
    for (let trial = 0; trial < TRIALS; trial++) tryOut(exports);
    return module;
  } finally {
    for (const flag of joins ? [...USUAL_FLAGS, DO_NOT_JOIN_FLAG] : USUAL_FLAGS) setFlagsFromString(flag);
  }
}
