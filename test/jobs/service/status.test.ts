import { rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readRunConfig } from "../../../src/jobs/config/read_config.ts";
import { readStatus } from "../../../src/jobs/service/status.ts";
import { CliHost } from "../../cli/cli_host.ts";
import { FakeClock } from "../fake_clock.ts";
import { JobFolder, realBars, SILENT } from "../job_folder.ts";

const host = new CliHost();

test("what a job passes over, misses and lacks is in its status, and a failed run ends it with 1", async () => {
  using folder = new JobFolder({ formulas: "a = close", job: "bad_input: skip" });
  folder.rewriteConfig((text) => text.replace('"* * * * * *"', '"30 16 * * 1-5"'));
  const [first, second] = realBars(2, 5) as [string, string];
  const config = await readRunConfig(folder.config);
  const statusAt = async (now: string) => (await readStatus(config, Date.parse(now))).jobs[0]!;
  const shown = async () => {
    const { stdout, exitCode } = await host.run({ args: ["status", folder.config], folder: folder.path });
    return { text: stdout, exitCode };
  };
  const fresh = {
    unserved: null,
    positionAgeMs: null,
    newestSkipped: [],
    noInput: `${folder.path}/bars is empty`,
  };
  expect(await statusAt("2030-01-01T00:00:00Z")).toMatchObject(fresh);
  expect((await shown()).text).toContain("the source has no input");
  folder.addBars(first);
  const bad = Array.from({ length: 5 }, (_, number) =>
    folder.addBars("date,symbol,close\n1", `x${number}.csv`),
  );
  expect(await folder.run(SILENT, {}, { clock: new FakeClock("2026-12-24T22:00:00Z") })).toBeNull();
  // Thursday's run was the last; Friday's, Monday's and Tuesday's are missing, up to the minute in which they are due.
  const missed = { count: 2, first: "2026-12-25T16:30:00.000Z" };
  expect((await statusAt("2026-12-29T16:29:59Z")).unserved).toEqual(missed);
  const status = await statusAt("2026-12-29T16:30:00Z");
  expect(status).toMatchObject({
    unserved: { ...missed, count: 3 },
    noInput: null,
    skipped: 5,
    position: "2013-02-14",
    positionAgeMs: Date.parse("2026-12-29T16:30:00Z") - Date.parse("2013-02-14"),
  });
  expect(status.newestSkipped.map(({ path }) => path)).toEqual(bad.slice(2).reverse());
  for (const { reason, since } of status.newestSkipped) {
    expect(reason).toMatch(/x\d\.csv/);
    expect(Math.abs(Date.now() - Date.parse(since))).toBeLessThan(60_000);
  }
  const { text, exitCode } = await shown();
  expect(text).toMatch(/5 files passed over: .*x4\.csv, [01] minutes? ago: .*x2\.csv/);
  expect(text).toContain("and 2 older ones");
  expect(text).toMatch(/2013-02-14 +[\d,]+ days/);
  expect(exitCode).toBe(0);
  // A file that was put right is passed over no more.
  writeFileSync(bad[4]!, second);
  expect(await folder.run()).toBeNull();
  expect((await statusAt("2026-12-29T16:30:00Z")).skipped).toBe(4);
  rmSync(`${folder.path}/a.factors`);
  expect(await folder.run()).not.toBeNull();
  expect(await shown()).toMatchObject({ exitCode: 1 });
});
