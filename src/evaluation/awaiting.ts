/** A promise that is awaited later: until then its rejection is not taken for one that nobody sees. */
export function suppressUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** True if the first promise settles before the second one does, or if both have. */
export async function settlesBefore(first: Promise<unknown>, second: Promise<unknown>): Promise<boolean> {
  const settled = (promise: Promise<unknown>, isFirst: boolean) =>
    promise.then(
      () => isFirst,
      () => isFirst,
    );
  return await Promise.race([settled(first, true), settled(second, false)]);
}
