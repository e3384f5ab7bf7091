import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { joinsVectors } from "./joined_vectors.ts";

/** Makes V8's threads optimise a function once it has run for a moment; the other flag is V8's default. */
const EAGER_FLAG = "--wasm-tiering-budget=1";
const USUAL_FLAG = "--wasm-tiering-budget=13000000";

const JOIN_FLAG = "--experimental-wasm-revectorize";
const DO_NOT_JOIN_FLAG = "--no-experimental-wasm-revectorize";

/** Calls of a function before it is waited for. */
const TRIALS = 2;

/** Sleep between checks, and the number of checks after which functions are called again. */
const POLL_MS = 1;
const POLLS_PER_TRIAL = 50;

/**
 * Gives up if no function was compiled for this long, since a debugger may prevent it. Functions are then optimised
 * when they become hot, and vectors are not joined.
 */
const STANDSTILL_MS = 3_000;

/** Modules by the digest of their bytes, the last used one at the end. */
const modules = new Map<string, WebAssembly.Module>();

/** Most modules kept; each holds some megabytes of code. */
const MODULES_MAX = 16;

/** Compilations of this thread that have not ended: the flags are set for all of them. */
let underWay = 0;

/** What compiling a module needs beside its bytes. */
export interface Compilation {
  readonly imports: Readonly<Record<string, unknown>>;
  /** Calls exports of an instance with dummy memory; returns the called ones, which are waited for. */
  readonly tryOut: (exports: WebAssembly.Exports) => Iterable<unknown>;
}

/** A compilation in steps: each step checks what V8's threads have compiled; the caller waits between steps. */
export type Compiling<T> = Generator<undefined, T>;

/** Waits for V8's threads without blocking this one. */
export async function compiled<T>(compiling: Compiling<T>): Promise<T> {
  for (;;) {
    const { done, value } = compiling.next();
    if (done) return value;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The module of these bytes: from the cache, else as `compileOptimised`. */
export function* cachedModule(
  bytes: Uint8Array<ArrayBuffer>,
  compilation: Compilation,
): Compiling<WebAssembly.Module> {
  const digest = createHash("sha256").update(bytes).digest("base64");
  const known = modules.get(digest);
  const module = known ?? (yield* compileOptimised(bytes, compilation));
  modules.delete(digest);
  modules.set(digest, module);
  const [oldest] = modules.keys();
  if (modules.size > MODULES_MAX) modules.delete(oldest as string);
  return module;
}

/**
 * Compiles a module such that the first call of a kernel is as fast as any later one. V8 first uses a quick compiler,
 * whose code is several times slower, and optimises hot functions later. So exports are called on dummy memory, under
 * flags that make functions hot at once, and the called ones are waited for until V8's threads have optimised them.
 * Threads that receive the module share its code.
 *
 * @throws WebAssembly.CompileError if the bytes are not a valid module.
 */
function* compileOptimised(
  bytes: Uint8Array<ArrayBuffer>,
  { imports, tryOut }: Compilation,
): Compiling<WebAssembly.Module> {
  const joins = joinsVectors();
  underWay++;
  setFlagsFromString(EAGER_FLAG);
  if (joins) setFlagsFromString(JOIN_FLAG);
  try {
    const module = new WebAssembly.Module(bytes);
    const { exports } = new WebAssembly.Instance(module, { host: imports });
    const tried = new Set<unknown>();
    for (let trial = 0; trial < TRIALS; trial++) for (const run of tryOut(exports)) tried.add(run);
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

/** Yields before each check but the first, until all functions are optimised. */
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
      // Another thread that compiles may have reset the flags too early: then it takes some hundred calls.
      for (let trial = 0; trial < trials; trial++) tryAgain();
      trials *= 2;
    }
    yield;
  }
}

/**
 * Returns a predicate that asks V8 whether a WebAssembly function is optimised. It is called once with any function
 * while V8's natives syntax is on, since that call compiles it. Null in a process that compiles no JavaScript from
 * strings: nothing is waited for there.
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
