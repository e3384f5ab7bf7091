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

/** Compilations of this thread that have not ended: flags are set for all of them. */
let underWay = 0;

/** What compiling a module needs beside its bytes. */
export interface Compilation {
  readonly imports: Readonly<Record<string, unknown>>;
  /** Calls exports of an instance that works on nothing; returns those that it has called: they are waited for. */
  readonly tryOut: (exports: WebAssembly.Exports) => Iterable<unknown>;
  /** Called once, where a module is compiled while V8's threads are at it. */
  readonly meanwhile: () => void;
}

/** A module in the making: each step is a look at what V8's threads have compiled, before each of which one waits. */
export type Compiling = Generator<undefined, WebAssembly.Module>;

/** Waits beside whatever else this thread does. @throws what `meanwhile` throws. */
export async function awaitModule(compiling: Compiling): Promise<WebAssembly.Module> {
  for (;;) {
    const { done, value } = compiling.next();
    if (done) return value;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Waits while this thread does nothing else. @throws what `meanwhile` throws. */
export function moduleAtOnce(compiling: Compiling): WebAssembly.Module {
  const neverChanged = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  for (;;) {
    const { done, value } = compiling.next();
    if (done) return value;
    Atomics.wait(neverChanged, 0, 0, POLL_MS);
  }
}

/** The module of these bytes: the one that was compiled before, if it is still there, else as `compileOptimised`. */
export function* cachedModule(bytes: Uint8Array<ArrayBuffer>, compilation: Compilation): Compiling {
  const digest = createHash("sha256").update(bytes).digest("base64");
  const known = modules.get(digest);
  if (known) compilation.meanwhile();
  const module = known ?? (yield* compileOptimised(bytes, compilation));
  modules.delete(digest);
  modules.set(digest, module);
  const [oldest] = modules.keys();
  if (modules.size > MODULES_MAX) modules.delete(oldest as string);
  return module;
}

/**
 * Compiles a module such that the first call of a kernel is as fast as any later one. V8 compiles by a quick compiler
 * first, whose code takes several times as long, and by the optimising one when a function has turned out to be hot:
 * here exports are run on memory of their own under flags that make a moment hot, and those that were run are waited for
 * until V8's threads have compiled them. Threads that get the module share its code.
 *
 * @throws WebAssembly.CompileError if the bytes are no valid module.
 */
function* compileOptimised(
  bytes: Uint8Array<ArrayBuffer>,
  { imports, tryOut, meanwhile }: Compilation,
): Compiling {
  const joins = joinsVectors();
  underWay++;
  setFlagsFromString(EAGER_FLAG);
  if (joins) setFlagsFromString(JOIN_FLAG);
  try {
    const module = new WebAssembly.Module(bytes);
    const { exports } = new WebAssembly.Instance(module, { host: imports });
    const tried = new Set<unknown>();
    for (let trial = 0; trial < TRIALS; trial++) for (const run of tryOut(exports)) tried.add(run);
    meanwhile();
    yield* untilOptimised(tried, () => tryOut(exports));
    return module;
  } finally {
    underWay--;
    if (underWay === 0) {
      setFlagsFromString(USUAL_FLAG);
      if (joins) setFlagsFromString(DO_NOT_JOIN_FLAG);
    }
  }
}

/** Yields before each look but the first, until all functions have code of the optimising compiler. */
function* untilOptimised(functions: ReadonlySet<unknown>, tryAgain: () => void): Generator<undefined, void> {
  let rest = [...functions];
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
      for (let trial = 0; trial < trials; trial++) tryAgain();
      trials *= 2;
    }
    yield;
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
