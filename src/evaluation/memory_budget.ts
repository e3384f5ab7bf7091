import { ResourceError } from "../errors.ts";

/** What an evaluation needs of an engine's memory while it is open. */
export interface MemoryNeed {
  /** Bytes to be allocated, by what they are for. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Buffers of the caller's that are there already, such as a panel's; those of several evaluations count once. */
  readonly held: readonly ArrayBufferLike[];
  /** What to do where it does not fit. */
  readonly remedy: string;
}

/** The memory that the evaluations of one engine may use together. */
export class MemoryBudget {
  readonly limitBytes: number;
  #allocatedBytes = 0;
  /** How many evaluations hold each buffer. */
  readonly #holders = new Map<ArrayBufferLike, number>();

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Bytes that open evaluations use. */
  get usedBytes(): number {
    return this.#allocatedBytes + sum([...this.#holders.keys()].map(({ byteLength }) => byteLength));
  }

  /** Why the memory does not suffice: E401 with need and limit; null if it does. */
  refusal(need: MemoryNeed): ResourceError | null {
    return this.usedBytes + this.#addedBytes(need) <= this.limitBytes ? null : this.#refusal(need);
  }

  /**
   * Reserves the memory until the returned function is called.
   *
   * @throws ResourceError E401 naming need and limit if it does not fit.
   */
  reserve(need: MemoryNeed): () => void {
    const refusal = this.refusal(need);
    if (refusal) throw refusal;
    const bytes = sum(Object.values(need.bytes));
    const held = new Set(need.held);
    this.#allocatedBytes += bytes;
    for (const buffer of held) this.#holders.set(buffer, (this.#holders.get(buffer) ?? 0) + 1);
    let isReserved = true;
    return () => {
      if (!isReserved) return;
      isReserved = false;
      this.#allocatedBytes -= bytes;
      for (const buffer of held) this.#letGo(buffer);
    };
  }

  #letGo(buffer: ArrayBufferLike): void {
    const holders = (this.#holders.get(buffer) as number) - 1;
    if (holders === 0) this.#holders.delete(buffer);
    else this.#holders.set(buffer, holders);
  }

  #addedBytes({ bytes, held }: MemoryNeed): number {
    const added = [...new Set(held)].filter((buffer) => !this.#holders.has(buffer));
    return sum(Object.values(bytes)) + sum(added.map(({ byteLength }) => byteLength));
  }

  #refusal(need: MemoryNeed): ResourceError {
    const panelBytes = sum([...new Set(need.held)].map(({ byteLength }) => byteLength));
    const pieces = Object.entries({ ...need.bytes, panel: panelBytes }).filter(([, bytes]) => bytes > 0);
    const total = formatBytes(sum(pieces.map(([, bytes]) => bytes)));
    const shown = pieces.map(([what, bytes]) => `${what} ${formatBytes(bytes)}`).join(", ");
    const used = this.usedBytes > 0 ? `, of which ${formatBytes(this.usedBytes)} are in use` : "";
    const message = `the evaluation needs ${total} (${shown}), the limit is ${formatBytes(this.limitBytes)}${used}`;
    return new ResourceError("E401", message, need.remedy);
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** `1536` -> `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${power === 0 ? bytes : (bytes / 2 ** (10 * power)).toFixed(1)} ${UNITS[power]}`;
}
