import { ResourceError } from "../../errors.ts";
import type { Clock } from "../clock/clock.ts";
import type { RetryConfig } from "../config/config.ts";

/** Waits double up to an hour. */
const WAIT_MS_MAX = 3_600_000;

/** Retries work after a ResourceError, which may be transient, until the signal is aborted. @throws the last failure. */
export async function retrying<T>(
  work: () => Promise<T>,
  retries: RetryConfig,
  clock: Clock,
  signal: AbortSignal,
  onRetry: (error: ResourceError, waitMs: number) => void,
): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await work();
    } catch (error) {
      if (retry >= retries.count || !(error instanceof ResourceError)) throw error;
      const waitMs = Math.min(retries.backoffMs * 2 ** retry, WAIT_MS_MAX);
      onRetry(error, waitMs);
      await clock.sleepUntil(clock.now() + waitMs, signal);
      if (signal.aborted) throw error;
    }
  }
}
