import { expect, test } from "vitest";
import { runCli } from "../run_cli.ts";

test("bench calibrate prints and stores what operators cost", async () => {
  const args = ["bench", "calibrate", "--lanes", "9", "--json", "--out", "costs.json"];
  const { exitCode, stdout, stderr, written } = await runCli(args, {}, "costs.json");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const { replaced, ...calibration } = JSON.parse(stdout);
  expect(JSON.parse(written as string)).toEqual(calibration);
  expect(replaced).toEqual(expect.any(String));
  expect(calibration).toMatchObject({ lanes: 9, node: process.version, machine: expect.any(String) });
  expect(calibration.operators.ts_rank.map((point: object) => Object.keys(point)[0])).toContain("windowRows");
});

test("bench calibrate prints what it cannot store", async () => {
  const args = ["bench", "calibrate", "--lanes", "3", "--out", "taken/costs.json"];
  const { exitCode, stdout, stderr } = await runCli(args, { taken: "" });
  expect(exitCode).toBe(2);
  expect(stdout).toMatch(/^ns per cell on one thread of .*, 3 lanes\n/);
  expect(stdout).toMatch(/^ts_rank +5: [\d.]+ +20: [\d.]+ +60: [\d.]+ +240: [\d.]+$/m);
  expect(stderr).toContain("E442 the costs cannot be stored in taken/costs.json: EEXIST");
  expect(stderr).not.toContain("bug in factorloom");
});
