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
