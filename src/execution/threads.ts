import { Piscina } from "piscina";
import type { Mailbox } from "./mailbox.ts";

type TransferList = NonNullable<NonNullable<Parameters<Piscina["run"]>[1]>["transferList"]>;

/** A loop on a thread. */
export interface ThreadLoop {
  /** Settles when the loop returns; rejects when it throws or its thread is lost, at whatever stage. */
  readonly ended: Promise<void>;
  /** Ends the thread at once, whatever it does. */
  terminate(): void;
}

/**
 * Threads that run one loop each, hosted by one Piscina per loop. Its only worker is an initial one and so gets the
 * task at once: a thread that dies while it starts rejects its loop. In a Piscina with several workers the loop of a
 * later worker that dies so would stay queued for ever.
 */
export class Threads {
  readonly #heapMebibytesMax: number | undefined;
  readonly #open = new Set<Piscina>();
  /** The ends of Piscinas whose threads may not have exited yet. */
  readonly #ending = new Set<Promise<void>>();

  constructor(heapMebibytesMax: number | undefined) {
    this.#heapMebibytesMax = heapMebibytesMax;
  }

  /** Runs a loop on a thread of its own: the function `name` of a module of this room. */
  runLoop(module: string, name: string, task: { readonly mailbox: Mailbox }): ThreadLoop {
    const one = this.#start();
    return {
      ended: this.#run(one, { filename: siblingModule(`./${module}`), name }, task),
      terminate: () => void one.threads[0]?.terminate(),
    };
  }

  async #run(
    one: Piscina,
    entry: { readonly filename: string; readonly name: string },
    task: { readonly mailbox: Mailbox },
  ): Promise<void> {
    // An error of a thread that has no task: it is news only as long as the loop has not settled.
    const { promise: threadError, reject } = Promise.withResolvers<never>();
    one.on("error", reject);
    // Piscina wants an array here; its type is taken from an overload of postMessage that Node's types have changed.
    const transferList = [task.mailbox.port] as unknown as TransferList;
    try {
      const loop = one.run(task, { ...entry, transferList });
      await Promise.race([loop, threadError]);
    } finally {
      // Also ends the thread that Piscina starts at once in place of a lost one.
      this.#end(one);
    }
  }

  /** Ends all threads, whatever they do, and waits until they have exited. */
  async destroy(): Promise<void> {
    for (const one of this.#open) this.#end(one);
    await Promise.all(this.#ending);
  }

  /** One thread that is not retired for being idle. */
  #start(): Piscina {
    const one = new Piscina({
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      ...(this.#heapMebibytesMax === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: this.#heapMebibytesMax } }),
    });
    this.#open.add(one);
    return one;
  }

  #end(one: Piscina): void {
    this.#open.delete(one);
    const ending = one.destroy().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** URL of a module relative to this room, as source (`.ts`) or built (`.js`), whichever is running. */
export function siblingModule(path: string): string {
  return new URL(`${path}${import.meta.url.slice(-3)}`, import.meta.url).href;
}
