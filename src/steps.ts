/** Longest time for which the main thread does one thing, in ms: rows of sessions wait for it. */
const STEP_MS = 2;

/** Lets this thread do what else there is to do. */
export async function pause(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Does a long work step by step, with pauses. */
export async function inSteps<T>(work: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + STEP_MS; ; ) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() < until) continue;
    await pause();
    until = performance.now() + STEP_MS;
  }
}

/** Does all steps at once. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
