import type { PartId } from "./events.ts";

/** What one executor has been given and has not returned. */
interface ExecutorQueue {
  readonly executor: number;
  readonly parts: PartId[];
  /** Index in the list of executors with the same number of parts. */
  position: number;
}

/** The bounded queues of all executors, by how full they are; everything is O(capacity). */
export class ExecutorQueues {
  readonly #capacity: number;
  readonly #queues = new Map<number, ExecutorQueue>();
  readonly #byPartCount: ExecutorQueue[][];

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#byPartCount = Array.from({ length: capacity + 1 }, () => []);
  }

  join(executor: number): void {
    if (this.#queues.has(executor)) throw new Error(`executor ${executor} has joined already`);
    const queue = { executor, parts: [], position: 0 };
    this.#queues.set(executor, queue);
    this.#insert(queue);
  }

  /** Forgets an executor and returns what it had not returned. */
  lose(executor: number): readonly PartId[] {
    const queue = this.#queues.get(executor);
    if (!queue) return [];
    this.#remove(queue);
    this.#queues.delete(executor);
    return queue.parts;
  }

  /** The executor with the fewest parts, if it has fewer than `partCountMax`; the last to become so among equals. */
  leastFilled(partCountMax = this.#capacity): number | null {
    for (let count = 0; count < Math.min(partCountMax, this.#capacity); count++) {
      const queue = this.#byPartCount[count]!.at(-1);
      if (queue) return queue.executor;
    }
    return null;
  }

  put(executor: number, part: PartId): void {
    const queue = this.#queues.get(executor)!;
    this.#remove(queue);
    queue.parts.push(part);
    this.#insert(queue);
  }

  /** Takes a returned part off an executor's queue; false if it is not there (late news of a lost executor). */
  take(executor: number, { plan, node, part }: PartId): boolean {
    const queue = this.#queues.get(executor);
    const index = queue?.parts.findIndex((p) => p.part === part && p.node === node && p.plan === plan) ?? -1;
    if (!queue || index < 0) return false;
    this.#remove(queue);
    queue.parts.splice(index, 1);
    this.#insert(queue);
    return true;
  }

  #insert(queue: ExecutorQueue): void {
    const peers = this.#byPartCount[queue.parts.length]!;
    queue.position = peers.length;
    peers.push(queue);
  }

  #remove(queue: ExecutorQueue): void {
    const peers = this.#byPartCount[queue.parts.length]!;
    const last = peers.pop()!;
    if (last === queue) return;
    peers[queue.position] = last;
    last.position = queue.position;
  }
}
