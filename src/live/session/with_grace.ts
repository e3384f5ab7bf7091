import { ABORT_GRACE_MS, rowEnded } from "../errors.ts";

/**
 * Runs a row that goes on although its push is aborted.
 *
 * @param run with a signal that is aborted where the row has not ended `ABORT_GRACE_MS` after the push was aborted
 * @param aborts the signal of the push
 */
export async function withGrace<T>(
  run: (signal: AbortSignal | undefined) => Promise<T>,
  aborts: AbortSignal | undefined,
): Promise<T> {
  if (!aborts) return await run(undefined);
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const abortLater = () => {
    timer = setTimeout(() => controller.abort(rowEnded(aborts.reason)), ABORT_GRACE_MS);
  };
  if (aborts.aborted) abortLater();
  else aborts.addEventListener("abort", abortLater, { once: true });
  try {
    return await run(controller.signal);
  } finally {
    aborts.removeEventListener("abort", abortLater);
    clearTimeout(timer);
  }
}
