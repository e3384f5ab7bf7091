import { hash } from "node:crypto";
import { test } from "vitest";
import { testSeed } from "./seeded.ts";
import { share } from "./trials.ts";

/** As `test`, for one that takes a minute whatever the counts: a share of the full counts tries a drawn share of them. */
export function heavyTest(name: string, run: () => Promise<void>): void {
  const drawn = Number.parseInt(hash("sha256", `${testSeed()} ${name}`).slice(0, 8), 16) / 2 ** 32;
  test.runIf(drawn < share)(name, run);
}
