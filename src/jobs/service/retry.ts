import { ResourceError } from "../../errors.ts";
import type { Clock } from "../clock/clock.ts";
import type { RetryConfig } from "../config/config.ts";

const WAIT_MS_MAX = 3_600_000;

/** Wait before a retry, counted from 0: doubles each time, up to an hour. */
function backoffMs({ backoffMs: first }: RetryConfig, retry: number): number {
  return Math.min(first * 2 ** retry, WAIT_MS_MAX);
}

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
      const waitMs = backoffMs(retries, retry);
      onRetry(error, waitMs);
      await clock.sleepUntil(clock.now() + waitMs, signal);
      if (signal.aborted) throw error;
    }
  }
}
