import { expect, test } from "vitest";
import { DataError, ResourceError } from "../../../src/errors.ts";
import { retrying } from "../../../src/jobs/service/retry.ts";
import { FakeClock } from "../fake_clock.ts";

async function attempt(error: Error, failures: number, count: number) {
  const clock = new FakeClock("2024-01-01T00:00:00Z");
  const waits: number[] = [];
  let left = failures;
  const work = async () => {
    if (left-- > 0) throw error;
    return "done";
  };
  const result = retrying(work, { count, backoffMs: 1_000 }, clock, new AbortController().signal, (_, ms) =>
    waits.push(ms),
  ).catch((reason: unknown) => reason);
  await clock.advanceTo("2024-01-02T00:00:00Z");
  return { result: await result, waits };
}

const FULL = new ResourceError("E442", "the disk is full", "make room");

test("transient failures are retried, with waits that double", async () => {
  expect(await attempt(FULL, 3, 5)).toEqual({ result: "done", waits: [1_000, 2_000, 4_000] });
  expect(await attempt(FULL, 3, 2)).toEqual({ result: FULL, waits: [1_000, 2_000] });
});

test("wrong input is not retried", async () => {
  const wrong = new DataError("E303", "no Parquet", "write it again");
  expect(await attempt(wrong, 1, 5)).toEqual({ result: wrong, waits: [] });
});
