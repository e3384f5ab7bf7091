/** Suppresses the unhandled rejection of a promise that is awaited later. */
export function suppressUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
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
