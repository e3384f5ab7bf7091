/** Limits of the engine. Formulas are untrusted input: exceeding a limit is a clear error. */
import { totalmem } from "node:os";

/** Largest formula source accepted, in bytes of UTF-8. */
export const SOURCE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Deepest nesting accepted, of parentheses and open `?`, and of `when` blocks. Counted on the tokens before parsing,
 * because a recursive-descent parser overflows its stack somewhere between 200 and 400 levels.
 */
export const NESTING_LEVELS_MAX = 100;

/** Longest window or delay, in panel rows. */
export const WINDOW_ROWS_MAX = 65_536;

/** Most rows that a plan runs: kernels count them, and up to a window more, in an Int32. */
export const PLAN_ROWS_MAX = 2 ** 31 - WINDOW_ROWS_MAX;

/** Largest priority of a factor in a formula file; the smallest is its negative. */
export const PRIORITY_MAX = 1000;

/** Most expression nodes of one program after `let f(x) = ...` definitions are expanded. */
export const EXPRESSION_NODES_MAX = 8_000_000;

/** Most rows of a block: larger blocks only take memory. */
export const BLOCK_ROWS_MAX = 65_536;

/** Most executor threads of an engine: each starts a JavaScript heap of its own. */
export const THREADS_MAX = 256;

/** Most work that a thread's queue is asked to hold, in ms: nothing is gained long before. */
export const QUEUE_MS_MAX = 1000;

/** Most diagnostics of one source; the search for mistakes ends there. */
export const DIAGNOSTICS_MAX = 100;

/** Memory of the machine, or of the container that this process runs in, which may have less. */
export function machineMemoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}
