import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { BARS, barLines, dateOf, folder, SERVICE, service } from "./example_process.ts";
import { killedLife } from "./service_lives.ts";

/** Sends a signal to the paced service once it has reported some bars. */
async function interrupt(signal: NodeJS.Signals, barCount: number, args: readonly string[]) {
  const child = spawn(process.execPath, [SERVICE, "--report", "1", "--every", "100", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    // Once: the service is ended at once by a second signal.
    if (!child.killed && barLines(lines).length === barCount) child.kill(signal);
  }
  const [code] = await exit;
  return { code, lines };
}

describe("the service", () => {
  const uninterrupted = barLines(service("--bars", `${BARS}`).lines);

  test("goes on after SIGTERM and SIGINT where it was stopped, each bar once", async () => {
    const state = ["--state", join(folder, "stopped.checkpoint")];
    const terminated = await interrupt("SIGTERM", 8, state);
    const interrupted = await interrupt("SIGINT", 8, state);
    for (const { code, lines } of [terminated, interrupted]) {
      expect(code).toBe(0);
      expect(lines).toContain(`checkpoint after ${dateOf(barLines(lines).at(-1))}`);
      expect(lines.at(-1)).toBe("stopped");
    }
    expect(interrupted.lines[0]).toMatch(/^resumed from /);
    const before = [...barLines(terminated.lines), ...barLines(interrupted.lines)];
    const rest = service(...state, "--bars", `${BARS - before.length}`);
    expect([...before, ...barLines(rest.lines)]).toEqual(uninterrupted);
  });

  test("publishes each bar once, however often it is killed", async () => {
    const random = new Seeded();
    for (let life = 0; life < trials(1, 25); life++)
      await killedLife(random, `life-${life}`, 1 + random.below(6));
  });
});
