import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Calibration,
  calibrationFile,
  chooseCosts,
  machineName,
  storeCalibration,
} from "../../src/evaluation/stored_costs.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";

const CALIBRATION: Calibration = {
  machine: machineName(),
  node: process.version,
  measuredAt: "2026-01-02T03:04:05.000Z",
  lanes: 7,
  operators: { add: [{ windowRows: 1, nsPerCell: 0.1 }] },
};

let folder: string;
let file: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "factorloom-costs-"));
  // Where Linux and Windows keep caches.
  for (const name of ["XDG_CACHE_HOME", "LOCALAPPDATA"]) vi.stubEnv(name, folder);
  file = await calibrationFile();
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function write(text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe("the stored calibration", () => {
  test("is taken on the machine that it was measured on", async () => {
    expect(await storeCalibration(CALIBRATION)).toBe(file);
    expect(await chooseCosts()).toEqual({ model: CALIBRATION, origin: "calibrated", reason: null });
    expect(await chooseCosts("calibrated")).toEqual(await chooseCosts());
    expect(readdirSync(dirname(file))).toEqual(["costs.json"]);
  });

  test("replaces the one before", async () => {
    await storeCalibration(CALIBRATION);
    await storeCalibration({ ...CALIBRATION, lanes: 8 });
    expect((await chooseCosts()).model).toMatchObject({ lanes: 8 });
  });

  test("need not exist", async () => {
    expect(await chooseCosts()).toEqual({
      model: DEFAULT_COSTS,
      origin: "default",
      reason: "this machine is not calibrated",
    });
  });

  test.each([
    ["half of a file", (text: string) => text.slice(0, 60)],
    ["an empty file", () => ""],
    ["something else", () => "[1, 2]"],
    ["costs that are no numbers", (text: string) => text.replace("0.1", '"a"')],
  ])("is left aside if it is %s", async (_, damage) => {
    write(damage(JSON.stringify(CALIBRATION)));
    const { model, origin, reason } = await chooseCosts();
    expect({ model, origin }).toEqual({ model: DEFAULT_COSTS, origin: "default" });
    expect(reason).toContain("the stored calibration cannot be used: ");
    expect(reason).not.toContain("\n");
  });

  test("is left aside if it cannot be read", async () => {
    mkdirSync(file, { recursive: true });
    expect((await chooseCosts()).reason).toContain("EISDIR");
  });

  test("is left aside if it is of another machine", async () => {
    write(JSON.stringify({ ...CALIBRATION, machine: "elsewhere, Other CPU" }));
    expect(await chooseCosts()).toEqual({
      model: DEFAULT_COSTS,
      origin: "default",
      reason: `${file} was measured on elsewhere, Other CPU, this is ${machineName()}`,
    });
  });

  test("is not looked for where other costs are asked for", async () => {
    await storeCalibration(CALIBRATION);
    const given = { machine: null, operators: {} };
    expect(await chooseCosts("default")).toEqual({ model: DEFAULT_COSTS, origin: "default", reason: null });
    expect(await chooseCosts(given)).toEqual({ model: given, origin: "given", reason: null });
  });

  test("cannot be stored where a file is in the way", async () => {
    writeFileSync(dirname(file), "");
    await expect(storeCalibration(CALIBRATION)).rejects.toThrow(
      `E442 the costs cannot be stored in ${file}: EEXIST`,
    );
  });

  test("goes to the file that is named, and leaves nothing where it cannot be written", async () => {
    const named = join(folder, "mine.json");
    expect(await storeCalibration(CALIBRATION, named)).toBe(named);
    expect(JSON.parse(readFileSync(named, "utf8"))).toEqual(CALIBRATION);
    mkdirSync(join(folder, "taken"));
    await expect(storeCalibration(CALIBRATION, join(folder, "taken"))).rejects.toThrow("E442");
    expect(readdirSync(folder).sort()).toEqual(["mine.json", "taken"]);
  });
});

test("what is no cost model is refused, not ignored, where it is given", async () => {
  await expect(chooseCosts({ machine: null } as never)).rejects.toThrow("E528");
});
