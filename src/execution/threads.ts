import { Piscina } from "piscina";
import type { Mailbox } from "./mailbox.ts";

type TransferList = NonNullable<NonNullable<Parameters<Piscina["run"]>[1]>["transferList"]>;

/** Threads that get one task each, which never ends: nothing is queued, and nothing is retired for being idle. */
export function startThreads(count: number, heapMebibytesMax: number | undefined): Piscina {
  return new Piscina({
    minThreads: count,
    maxThreads: count,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    ...(heapMebibytesMax === undefined
      ? {}
      : { resourceLimits: { maxOldGenerationSizeMb: heapMebibytesMax } }),
  });
}

/**
 * Runs a loop on a thread of its own: the function `name` of a module of this room. Settles when the loop returns,
 * and rejects when it throws or its thread is lost.
 */
export async function runLoop(
  threads: Piscina,
  module: string,
  name: string,
  task: { readonly mailbox: Mailbox },
): Promise<void> {
  // Piscina wants an array here; its type is taken from an overload of postMessage that Node's types have changed.
  const transferList = [task.mailbox.port] as unknown as TransferList;
  await threads.run(task, { filename: siblingModule(`./${module}`), name, transferList });
}

/** URL of a module relative to this room, as source (`.ts`) or built (`.js`), whichever is running. */
export function siblingModule(path: string): string {
  return new URL(`${path}${import.meta.url.slice(-3)}`, import.meta.url).href;
}
