import { ResourceError } from "../errors.ts";

/** Memory that an open evaluation needs. */
export interface MemoryNeed {
  /** Bytes to allocate, by purpose. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Existing buffers of the caller, such as a panel's; a buffer shared by several evaluations counts once. */
  readonly held: readonly ArrayBufferLike[];
  /** The remedy if it does not fit. */
  readonly remedy: string;
}

/** A finished buffer that waits to be read: it may be spilled to disk meanwhile. */
export interface RetainedBuffer {
  readonly byteLength: number;
  /** Writes the bytes to disk, unless they are there, and frees the memory. Never rejects: its owner handles errors. */
  spill(): Promise<void>;
}

/** Memory of an engine, in bytes. */
export interface EngineMemory {
  readonly limitBytes: number;
  /** Used by open evaluations: columns, state, staged input, results, panels. */
  readonly managedBytes: number;
  /** Results in memory that wait to be read. */
  readonly retainedBytes: number;
  /** Results on disk that wait to be read. */
  readonly spilledBytes: number;
  /** Total bytes ever written to disk. */
  readonly spilledBytesTotal: number;
  /** Resident size of the process. */
  readonly processBytes: number;
  /** What of it is none of the above: code, JavaScript heaps, tables of the caller, closed plans that V8 still holds. */
  readonly unmanagedBytes: number;
  /** What of that has come in the last 30 s, as far as the readings of this object tell: it may go again. */
  readonly unmanagedRecentBytes: number;
}

/** Less is not worth collecting garbage, which stops every thread for 20 to 200 ms. */
const COLLECTED_BYTES_MIN = 64 * 2 ** 20;

/** Unmanaged memory is recent for so long. */
const RECENT_MS = 30_000;

/** Above this share of the limit retained buffers are spilled. */
const SPILL_SHARE = 0.6;
/** Above this share no block is admitted until spilling has reduced the use. */
const PAUSE_SHARE = 0.8;

/** A WebAssembly memory with 32-bit addresses is limited to this. */
export const ARENA_BYTES_MAX = 4 * 2 ** 30;

/** The shared memory of an engine's evaluations. */
export class MemoryBudget {
  readonly limitBytes: number;
  /** The largest arena: what takes more is divided. Tests divide small programs. */
  readonly arenaBytesMax: number;
  #allocatedBytes = 0;
  /** Number of evaluations that hold each buffer. */
  readonly #holders = new Map<ArrayBufferLike, number>();
  /** The least recently used one first. */
  readonly #retained = new Set<RetainedBuffer>();
  #retainedBytes = 0;
  #spilledBytes = 0;
  #spilledBytesTotal = 0;
  #spilling: Promise<void> | null = null;
  /** Bytes of arenas that were closed since garbage was collected. */
  #closedBytes = 0;
  /** Unmanaged memory at the readings of the last while. */
  #readings: { readonly at: number; readonly unmanagedBytes: number }[] = [];

  constructor(limitBytes: number, arenaBytesMax: number = ARENA_BYTES_MAX) {
    this.limitBytes = limitBytes;
    this.arenaBytesMax = arenaBytesMax;
  }

  /** Bytes used by open evaluations. */
  get usedBytes(): number {
    return this.#allocatedBytes + sum([...this.#holders.keys()].map(({ byteLength }) => byteLength));
  }

  get memory(): EngineMemory {
    const now = performance.now();
    const processBytes = process.memoryUsage.rss();
    const unmanagedBytes = Math.max(0, processBytes - this.usedBytes - this.#retainedBytes);
    this.#readings = this.#readings.filter(({ at }) => at > now - RECENT_MS);
    this.#readings.push({ at: now, unmanagedBytes });
    const least = Math.min(...this.#readings.map((reading) => reading.unmanagedBytes));
    return {
      processBytes,
      unmanagedBytes,
      unmanagedRecentBytes: unmanagedBytes - least,
      limitBytes: this.limitBytes,
      managedBytes: this.usedBytes,
      retainedBytes: this.#retainedBytes,
      spilledBytes: this.#spilledBytes,
      spilledBytesTotal: this.#spilledBytesTotal,
    };
  }

  /**
   * Retained buffers do not count, because they can be spilled.
   *
   * @throws ResourceError E401 naming need and limit if the memory does not suffice.
   */
  expectRoom(need: MemoryNeed): void {
    if (this.usedBytes + this.#addedBytes(need) > this.limitBytes) throw this.#refusal(need);
  }

  /** An arena was closed: it stays in memory until V8 collects garbage. */
  noteClosed(bytes: number): void {
    this.#closedBytes += bytes;
  }

  /** True if garbage is to be collected before `moreBytes` are allocated: else the process exceeds the limit. */
  takeCollection(moreBytes: number): boolean {
    const isWorthIt = this.#closedBytes >= COLLECTED_BYTES_MIN;
    if (!isWorthIt || process.memoryUsage.rss() + moreBytes <= this.limitBytes) return false;
    this.#closedBytes = 0;
    return true;
  }

  /** Counts the buffer as retained and most recently used, until it is spilled or let go. */
  retain(buffer: RetainedBuffer): void {
    this.letGo(buffer);
    this.#retained.add(buffer);
    this.#retainedBytes += buffer.byteLength;
    this.#spillIfFull();
  }

  /** The buffer is not in memory any more; does nothing for one that is not retained. */
  letGo(buffer: RetainedBuffer): void {
    if (this.#retained.delete(buffer)) this.#retainedBytes -= buffer.byteLength;
  }

  noteSpilled(bytes: number): void {
    this.#spilledBytes += bytes;
    this.#spilledBytesTotal += bytes;
  }

  noteDiscarded(bytes: number): void {
    this.#spilledBytes -= bytes;
  }

  /** True if these bytes can be retained without spilling. */
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
    this.expectRoom(need);
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

/** The memory that exists, or that is allowed, does not suffice. */
export function memoryShort(message: string, remedy: string, cause?: unknown): ResourceError {
  return new ResourceError("E401", message, remedy, { cause });
}

export function isMemoryShort(error: unknown): boolean {
  return error instanceof ResourceError && error.code === memoryShort("", "").code;
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
