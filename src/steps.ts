/** Longest time for which the main thread does one thing, in ms: rows of sessions wait for it. */
const STEP_MS = 1;

/** Lets this thread do what else there is to do. */
async function pause(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Does a long work step by step, with pauses. */
export async function inSteps<T>(work: Generator<void, T>): Promise<T> {
  for (const pauses = new Pauses(); ; ) {
    const step = work.next();
    if (step.done) return step.value;
    await pauses.afterStep();
  }
}

/** The pauses of a long work. */
export class Pauses {
  #until = performance.now() + STEP_MS;

  /** Waits if the last pause is long ago. */
  async afterStep(): Promise<void> {
    if (performance.now() < this.#until) return;
    await pause();
    this.#until = performance.now() + STEP_MS;
  }
}
