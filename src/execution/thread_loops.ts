import type { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import type { Mailbox } from "./shared/mailbox.ts";

type TransferList = NonNullable<NonNullable<Parameters<Piscina["run"]>[1]>["transferList"]>;

/**
 * MiB of V8's own heap limit beyond the watched one: what a thread may allocate until the watch sees it, on a machine
 * whose cores do other work too. An allocation beyond V8's limit may end the process.
 */
const HEAP_RESERVE_MEBIBYTES = 512;

/** The system refuses a thread: there are too many, or no memory for one. */
export class ThreadRefused extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A loop on a thread. It does not keep the process alive: whoever waits for it does. */
export interface ThreadLoop {
  /**
   * Settles when the loop returns; rejects when it throws or its thread is lost, at whatever stage, and with
   * `ThreadRefused` if the system refuses one.
   */
  readonly ended: Promise<void>;
  /** Ends the thread at once. */
  terminate(): void;
  /** Bytes used of its JavaScript heap; null if it has ended. */
  heapBytes(): Promise<number | null>;
}

/**
 * Threads that run one loop each, hosted by one Piscina per loop. Its only worker is an initial one and so gets the
 * task at once: a thread that dies while it starts rejects its loop. In a Piscina with several workers, the loop of a
 * later worker that dies so would stay queued forever.
 */
export class Threads {
  readonly #heapMebibytesMax: number | undefined;
  readonly #open = new Set<Piscina>();
  /** The ends of Piscinas whose threads may not have exited yet. */
  readonly #ending = new Set<Promise<void>>();

  constructor(heapMebibytesMax: number | undefined) {
    this.#heapMebibytesMax = heapMebibytesMax;
  }

  /** Runs a loop on its own thread, started by the function `name` of a module of this room (`beginLoop`). */
  runLoop(module: string, name: string, task: { readonly mailbox: Mailbox }): ThreadLoop {
    let one: Piscina;
    try {
      one = this.#start();
    } catch (error) {
      return {
        ended: Promise.reject(new ThreadRefused(error)),
        terminate: () => {},
        heapBytes: async () => null,
      };
    }
    return {
      ended: this.#run(one, { filename: siblingModule(module), name }, task),
      terminate: () => void one.threads[0]?.terminate(),
      heapBytes: async () => {
        const statistics = one.threads[0]?.getHeapStatistics().catch(() => null);
        return (await statistics)?.used_heap_size ?? null;
      },
    };
  }

  async #run(
    one: Piscina,
    entry: { readonly filename: string; readonly name: string },
    task: { readonly mailbox: Mailbox },
  ): Promise<void> {
    const exited = exitOf(one.threads[0]!);
    exited.catch(() => {}); // awaited later
    // The thread reports its errors itself.
    one.on("error", () => {});
    // Piscina wants an array here; its type comes from an overload of postMessage that Node's types have changed.
    const transferList = [task.mailbox.port] as unknown as TransferList;
    try {
      await one.run(task, { ...entry, transferList });
      await exited;
    } finally {
      this.#end(one);
    }
  }

  /** Ends all threads at once and waits until they have exited. */
  async destroy(): Promise<void> {
    for (const one of this.#open) this.#end(one);
    await Promise.all(this.#ending);
  }

  /** A thread that is not retired when idle. @throws the system's error if it refuses one. */
  #start(): Piscina {
    const one = new Piscina({
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // The loop takes over the event loop, which the thread returns to.
      atomics: "disabled",
      recordTiming: false,
      ...(this.#heapMebibytesMax === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: this.#heapMebibytesMax + HEAP_RESERVE_MEBIBYTES } }),
    });
    // Otherwise Piscina replaces a lost thread at once, in a listener, where a refusal ends the process.
    one.options.minThreads = 0;
    this.#open.add(one);
    return one;
  }

  #end(one: Piscina): void {
    this.#open.delete(one);
    const ending = one.destroy().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

async function exitOf(thread: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  thread.once("error", reject);
  thread.once("exit", resolve);
  const code = await promise;
  if (code !== 0) throw new Error(`the thread exited with code ${code}`);
}

/** URL of a module relative to this room, as source (`.ts`) or built (`.js`), whichever runs. */
export function siblingModule(path: string): string {
  return new URL(`${path}${import.meta.url.slice(-3)}`, import.meta.url).href;
}
