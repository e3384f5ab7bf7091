/** Suppresses the unhandled rejection of a promise that is awaited later. */
export function suppressUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** Waits for the work or the signal. If the signal is first, throws its reason; the work goes on unobserved. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  suppressUnhandled(work);
  signal?.throwIfAborted();
  if (!signal) return await work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** True if the first promise settles before the second, or if both have settled. */
export async function settlesBefore(first: Promise<unknown>, second: Promise<unknown>): Promise<boolean> {
  const settled = (promise: Promise<unknown>, isFirst: boolean) =>
    promise.then(
      () => isFirst,
      () => isFirst,
    );
  return await Promise.race([settled(first, true), settled(second, false)]);
}
