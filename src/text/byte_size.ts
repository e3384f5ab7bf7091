import { UsageError } from "../errors.ts";
import { type ArgumentKind, kindOf } from "./argument_kinds.ts";

const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
};

/**
 * Parses a number of bytes: `4GiB`, `500 MB`, `1048576`.
 *
 * @throws UsageError E528 if it is not a size.
 */
export function parseByteSize(text: string): number {
  const isText = typeof text === "string";
  const match = isText ? /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text) : null;
  const unit = UNIT_BYTES[(match?.[2] || "B").toUpperCase()];
  if (!match || unit === undefined) {
    const given = isText ? JSON.stringify(text) : kindOf(text);
    throw sizeUnusable(`${given} is not a size of memory`, "write e.g. 4GiB or 500MB");
  }
  return Math.floor(Number(match[1]) * unit);
}

/** @throws UsageError E528 for a limit that is not positive. */
export function checkMemoryLimit(bytes: number): void {
  if (bytes > 0) return;
  throw sizeUnusable(`a memory limit of ${bytes} bytes`, "give a positive number, or e.g. 4GiB");
}

/** The bytes of a limit. @throws UsageError E528. */
export function memoryBytes(limit: string | number): number {
  const bytes = typeof limit === "number" ? limit : parseByteSize(limit);
  checkMemoryLimit(bytes);
  return bytes;
}

export const MEMORY_LIMIT: ArgumentKind = {
  what: "a size of memory",
  fits: (given) => memoryBytes(given as string) > 0,
  remedy: "write e.g. 4GiB or 500MB",
  takesNull: true,
};

/** The error for a wrong or too small size of memory. */
function sizeUnusable(problem: string, remedy: string): UsageError {
  return new UsageError("E528", problem, remedy);
}
