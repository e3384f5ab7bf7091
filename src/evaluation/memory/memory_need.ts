import { ResourceError } from "../../errors.ts";
import { counted } from "../../text/counted.ts";

/** Memory that an open evaluation needs. */
export interface MemoryNeed {
  /** Bytes to allocate, by purpose. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Existing buffers of the caller, such as a panel's; a buffer shared by several evaluations counts once. */
  readonly held: readonly ArrayBufferLike[];
  /** The remedy if it does not fit. */
  readonly remedy: string;
  /** It is held until its owner closes it, as by a session: nobody waits for that. Default false. */
  readonly lasts?: boolean;
}

const CODE = "E401";

/** The memory that exists, or that is allowed, does not suffice. */
export function memoryShort(message: string, remedy: string, cause?: unknown): ResourceError {
  return new ResourceError(CODE, message, remedy, { cause });
}

export function isMemoryShort(error: unknown): error is ResourceError {
  return error instanceof ResourceError && error.code === CODE;
}

/** Bytes to allocate. */
export function bytesOf({ bytes }: Pick<MemoryNeed, "bytes">): number {
  return sum(Object.values(bytes));
}

/** Bytes of the caller's buffers. */
export function bytesHeld({ held }: Pick<MemoryNeed, "held">): number {
  return sum([...new Set(held)].map(({ byteLength }) => byteLength));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const UNITS = ["KiB", "MiB", "GiB", "TiB"];

/** `1536` -> `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  if (power === 0) return counted(bytes, "byte");
  return `${(bytes / 2 ** (10 * power)).toFixed(1)} ${UNITS[power - 1]}`;
}
