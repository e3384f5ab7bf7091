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

/** A finished buffer that waits to be taken: its bytes may go to disk meanwhile. */
export interface RetainedBuffer {
  readonly byteLength: number;
  /** Brings the bytes to disk, unless they are there, and frees the memory. Never rejects: its owner is told. */
  spill(): Promise<void>;
}

/** What an engine's memory holds, in bytes. */
export interface EngineMemory {
  readonly limitBytes: number;
  /** Of open evaluations: columns, state, staged input, results, panels. */
  readonly managedBytes: number;
  /** Of results in memory that wait to be taken. */
  readonly retainedBytes: number;
  /** Of results that wait on disk. */
  readonly spilledBytes: number;
  /** All that was ever written to disk. */
  readonly spilledBytesTotal: number;
}

/** Above this share of the limit retained buffers are spilled. */
const SPILL_SHARE = 0.6;
/** Above this share no block is admitted before spilling has brought the use down. */
const PAUSE_SHARE = 0.8;

/** The memory that the evaluations of one engine may use together. */
export class MemoryBudget {
  readonly limitBytes: number;
  #allocatedBytes = 0;
  /** How many evaluations hold each buffer. */
  readonly #holders = new Map<ArrayBufferLike, number>();
  /** The least recently used one first. */
  readonly #retained = new Set<RetainedBuffer>();
  #retainedBytes = 0;
  #spilledBytes = 0;
  #spilledBytesTotal = 0;
  #spilling: Promise<void> | null = null;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Bytes that open evaluations use. */
  get usedBytes(): number {
    return this.#allocatedBytes + sum([...this.#holders.keys()].map(({ byteLength }) => byteLength));
  }

  get memory(): EngineMemory {
    return {
      limitBytes: this.limitBytes,
      managedBytes: this.usedBytes,
      retainedBytes: this.#retainedBytes,
      spilledBytes: this.#spilledBytes,
      spilledBytesTotal: this.#spilledBytesTotal,
    };
  }

  /**
   * Why the memory does not suffice: E401 with need and limit; null if it does. What is retained does not stand in
   * the way, because it can be spilled.
   */
  refusal(need: MemoryNeed): ResourceError | null {
    return this.usedBytes + this.#addedBytes(need) <= this.limitBytes ? null : this.#refusal(need);
  }

  /** Counts the buffer as retained and most recently used, until it is spilled or let go. */
  retain(buffer: RetainedBuffer): void {
    this.letGo(buffer);
    this.#retained.add(buffer);
    this.#retainedBytes += buffer.byteLength;
    this.#spillIfFull();
  }

  /** The buffer is in memory no more; does nothing for one that is not retained. */
  letGo(buffer: RetainedBuffer): void {
    if (this.#retained.delete(buffer)) this.#retainedBytes -= buffer.byteLength;
  }

  /** So many bytes more wait on disk. */
  noteSpilled(bytes: number): void {
    this.#spilledBytes += bytes;
    this.#spilledBytesTotal += bytes;
  }

  /** So many bytes on disk are needed no more. */
  noteDiscarded(bytes: number): void {
    this.#spilledBytes -= bytes;
  }

  /** True if so many bytes can be retained without anything being spilled. */
  hasRoomFor(bytes: number): boolean {
    return this.#occupiedBytes + bytes <= SPILL_SHARE * this.limitBytes;
  }

  /** Back-pressure: waits while too much is in use, as long as spilling can change that. Call it before each block. */
  async admitBlock(): Promise<void> {
    this.#spillIfFull();
    if (this.#occupiedBytes > PAUSE_SHARE * this.limitBytes) await this.#spilling;
  }

  get #occupiedBytes(): number {
    return this.usedBytes + this.#retainedBytes;
  }

  #spillIfFull(): void {
    if (this.#spilling || this.#retained.size === 0 || this.hasRoomFor(0)) return;
    this.#spilling = this.#spill();
  }

  async #spill(): Promise<void> {
    try {
      for (const oldest of this.#retained) {
        if (this.hasRoomFor(0)) break;
        await oldest.spill();
        this.letGo(oldest);
      }
    } finally {
      this.#spilling = null;
    }
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
    this.#spillIfFull();
    let isReserved = true;
    return () => {
      if (!isReserved) return;
      isReserved = false;
      this.#allocatedBytes -= bytes;
      for (const buffer of held) this.#release(buffer);
    };
  }

  #release(buffer: ArrayBufferLike): void {
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
    return memoryShort(message, need.remedy);
  }
}

/** The memory that is there, or that is allowed, does not suffice. */
export function memoryShort(message: string, remedy: string, cause?: unknown): ResourceError {
  return new ResourceError("E401", message, remedy, { cause });
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
