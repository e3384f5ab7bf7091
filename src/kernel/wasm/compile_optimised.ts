import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { joinsVectors } from "./joined_vectors.ts";

/** V8's threads compile a function anew once it has run for a moment; then as usual. */
const EAGER_FLAG = "--wasm-tiering-budget=1";
const USUAL_FLAG = "--wasm-tiering-budget=13000000";

const JOIN_FLAG = "--experimental-wasm-revectorize";
const DO_NOT_JOIN_FLAG = "--no-experimental-wasm-revectorize";

/** How often a function is tried before it is waited for. */
const TRIALS = 2;

/** How long to sleep between looks at what is compiled, and after how many of them functions are tried again. */
const POLL_MS = 1;
const POLLS_PER_TRIAL = 50;

/**
 * When to give up if no function has been compiled since: a debugger keeps them from that. Then they are compiled when
 * they turn out to be hot, and vectors are not joined.
 */
const STANDSTILL_MS = 3_000;

/** Modules by the digest of their bytes, the one used last at the end. */
const modules = new Map<string, WebAssembly.Module>();

/** So many modules are kept; each holds its code, some megabytes. */
const MODULES_MAX = 16;

/** What compiling a module needs beside its bytes. */
export interface Compilation {
  readonly imports: Readonly<Record<string, unknown>>;
  /** Calls the exports of an instance that works on nothing. */
  readonly tryOut: (exports: WebAssembly.Exports) => void;
  /** Called once, where a module is compiled while V8's threads are at it. */
  readonly meanwhile: () => void;
}

/**
 * The module of these bytes: the one that was compiled before, if it is still there, else as `compileOptimised`.
 *
 * @throws what `meanwhile` throws
 */
export function cachedModule(bytes: Uint8Array<ArrayBuffer>, compilation: Compilation): WebAssembly.Module {
  const digest = createHash("sha256").update(bytes).digest("base64");
  const known = modules.get(digest);
  if (known) compilation.meanwhile();
  const module = known ?? compileOptimised(bytes, compilation);
  modules.delete(digest);
  modules.set(digest, module);
  const [oldest] = modules.keys();
  if (modules.size > MODULES_MAX) modules.delete(oldest as string);
  return module;
}

/**
 * Compiles a module such that the first call of a kernel is as fast as any later one. V8 compiles by a quick compiler
 * first, whose code takes several times as long, and by the optimising one when a function has turned out to be hot:
 * here every export is run on memory of its own under flags that make a moment hot, and waited for until V8's threads
 * have compiled it. Threads that get the module share its code.
 *
 * @throws WebAssembly.CompileError if the bytes are no valid module.
 */
function compileOptimised(
  bytes: Uint8Array<ArrayBuffer>,
  { imports, tryOut, meanwhile }: Compilation,
): WebAssembly.Module {
  const joins = joinsVectors();
  setFlagsFromString(EAGER_FLAG);
  if (joins) setFlagsFromString(JOIN_FLAG);
  try {
    const module = new WebAssembly.Module(bytes);
    const { exports } = new WebAssembly.Instance(module, { host: imports });
    for (let trial = 0; trial < TRIALS; trial++) tryOut(exports);
    meanwhile();
    waitUntilOptimised(exports, tryOut);
    return module;
  } finally {
    setFlagsFromString(USUAL_FLAG);
    if (joins) setFlagsFromString(DO_NOT_JOIN_FLAG);
  }
}

function waitUntilOptimised(
  exports: WebAssembly.Exports,
  tryOut: (exports: WebAssembly.Exports) => void,
): void {
  const neverChanged = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let rest = [...new Set(Object.values(exports))];
  if (rest.length === 0) return;
  const isOptimised = probeOf(rest[0]);
  if (!isOptimised) return;
  let last = performance.now();
  let trials = 1;
  for (let poll = 1; performance.now() < last + STANDSTILL_MS; poll++) {
    const count = rest.length;
    rest = rest.filter((run) => !isOptimised(run));
    if (rest.length === 0) return;
    if (rest.length < count) last = performance.now();
    if (poll % POLLS_PER_TRIAL === 0) {
      // Another thread that compiles may have set the flags back too early: then it takes some hundred calls.
      for (let trial = 0; trial < trials; trial++) tryOut(exports);
      trials *= 2;
    }
    Atomics.wait(neverChanged, 0, 0, POLL_MS);
  }
}

/**
 * Returns what tells whether a WebAssembly function has the code of the optimising compiler: V8 itself is asked. It is
 * called once with any function, while V8 takes such questions, for it is compiled by that. Null in a process that
 * compiles no JavaScript from strings: there nothing is waited for.
 */
function probeOf(any: unknown): ((run: unknown) => boolean) | null {
  setFlagsFromString("--allow-natives-syntax");
  try {
    const probe = new Function("run", "return %IsTurboFanFunction(run)") as (run: unknown) => boolean;
    probe(any);
    return probe;
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  } finally {
    setFlagsFromString("--no-allow-natives-syntax");
  }
}
