import { InternalError } from "../../errors.ts";

const INT32_BYTES = 4;
/** Reads of a signal between two reads of the clock: about a microsecond. */
const SPIN_LOOKS = 16;

/**
 * Longest time for which a thread spins before it sleeps, in ns. A chain of 500 empty nodes on one executor takes 48 us
 * per node between threads that sleep and 2 us between threads that spin (2-core virtual machine). Spinning longer
 * would gain little and keep a core from other programs while parts run.
 */
export const SPIN_NS_DEFAULT = 20_000;

/** Share of the spin time if there are as many executors as cores, where a spinning executor delays the scheduler. */
const CROWDED_SPIN_SHARE = 0.5;

/** How long an executor spins before it sleeps, in ns. */
export function executorSpinNs(threads: number, cores: number, spinNs = SPIN_NS_DEFAULT): number {
  return threads < cores ? spinNs : CROWDED_SPIN_SHARE * spinNs;
}

/** Words of a 64-byte cache line: the two ends of a ring are on separate lines. */
const LINE_WORDS = 16;
/** Records taken so far; written by the consumer. */
const HEAD = 0;
/** Records pushed so far; written by the producer. */
const TAIL = LINE_WORDS;
const RECORD_WORDS = 2 * LINE_WORDS;
const CAPACITY = 2 * LINE_WORDS + 1;
const RECORDS = 3 * LINE_WORDS;

/**
 * A bounded queue of fixed-size Int32 records between one producer thread and one consumer thread. Neither side ever
 * blocks; an idle thread waits on a `Signal`. What a thread wrote before a push is visible to the other one after the
 * drain.
 */
export class RecordRing {
  readonly memory: SharedArrayBuffer;
  /** Words per record, and capacity in records. */
  readonly recordWords: number;
  readonly capacity: number;
  readonly #words: Int32Array<SharedArrayBuffer>;

  /** Attaches to the memory of `RecordRing.create`, in any thread. */
  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
    this.recordWords = this.#words[RECORD_WORDS]!;
    this.capacity = this.#words[CAPACITY]!;
  }

  /** Creates an empty ring of at least `capacity` records. */
  static create(recordWords: number, capacity: number): RecordRing {
    // A power of two, so that the counters may wrap around.
    const roundedCapacity = 2 ** Math.ceil(Math.log2(Math.max(1, capacity)));
    const words = new Int32Array(
      new SharedArrayBuffer((RECORDS + recordWords * roundedCapacity) * INT32_BYTES),
    );
    words[RECORD_WORDS] = recordWords;
    words[CAPACITY] = roundedCapacity;
    return new RecordRing(words.buffer);
  }

  /** Records pushed and not drained, as last seen. */
  get waitingCount(): number {
    return (Atomics.load(this.#words, TAIL) - Atomics.load(this.#words, HEAD)) | 0;
  }

  /**
   * Producer: appends one record.
   *
   * @throws InternalError if the ring is full: both ends bound how much is under way.
   */
  push(record: ArrayLike<number>): void {
    const words = this.#words;
    const tail = words[TAIL]!;
    if (((tail - Atomics.load(words, HEAD)) | 0) >= this.capacity) throw new InternalError("a ring is full");
    const offset = RECORDS + (tail & (this.capacity - 1)) * this.recordWords;
    for (let i = 0; i < this.recordWords; i++) words[offset + i] = record[i]!;
    Atomics.store(words, TAIL, (tail + 1) | 0);
  }

  /** Consumer: takes all records, oldest first, as `target[record * recordWords ...]`; returns their number. */
  drain(target: Int32Array): number {
    const words = this.#words;
    const head = words[HEAD]!;
    const count = (Atomics.load(words, TAIL) - head) | 0;
    for (let k = 0; k < count; k++) {
      const offset = RECORDS + ((head + k) & (this.capacity - 1)) * this.recordWords;
      for (let i = 0; i < this.recordWords; i++) target[k * this.recordWords + i] = words[offset + i]!;
    }
    if (count > 0) Atomics.store(words, HEAD, (head + count) | 0);
    return count;
  }
}

/** A word that one thread sleeps on and others raise. */
export class Signal {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;

  /** Counts how often a thread went to sleep; null: nothing does. */
  readonly #sleepsIndex: number | null;

  constructor(words: Int32Array<SharedArrayBuffer>, index: number, sleepsIndex: number | null = null) {
    this.#words = words;
    this.#index = index;
    this.#sleepsIndex = sleepsIndex;
  }

  /** The current count of raises: read it before looking for work, and pass it to `wait` if there was none. */
  read(): number {
    return Atomics.load(this.#words, this.#index);
  }

  raise(): void {
    Atomics.add(this.#words, this.#index, 1);
    Atomics.notify(this.#words, this.#index);
  }

  /**
   * Blocks the thread until the signal has been raised since `seen` was read. Spins for `spinNs` before it sleeps: a
   * sleeping thread takes some microseconds to wake up.
   */
  wait(seen: number, spinNs = 0): void {
    if (spinNs > 0 && this.spin(seen, spinNs)) return;
    if (this.#sleepsIndex !== null) this.#words[this.#sleepsIndex]!++;
    Atomics.wait(this.#words, this.#index, seen);
  }

  /** As `wait`, for `ms` at most. */
  waitFor(seen: number, ms: number): void {
    Atomics.wait(this.#words, this.#index, seen, ms);
  }

  /** Looks for a raise since `seen`, or for other news, for so long; false if there was none. */
  spin(seen: number, spinNs: number, hasNews: (() => boolean) | null = null): boolean {
    const end = performance.now() + spinNs / 1e6;
    do {
      for (let look = 0; look < SPIN_LOOKS; look++) {
        if (Atomics.load(this.#words, this.#index) !== seen) return true;
        Atomics.pause();
      }
      if (hasNews?.()) return true;
    } while (performance.now() < end);
    return false;
  }
}
