import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findPython, pythonScript } from "../../../src/cluster/bridge/python.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { hasDask } from "../../support/needs.ts";

const isDaskThere = await hasDask();
const folder = fileFolder();
beforeEach(() => void vi.stubEnv("FACTORLOOM_PYTHON", ""));
afterEach(() => vi.unstubAllEnvs());

/** A program of this name that ends with a status; its path. */
function fakePython(name: string, status: 0 | 1): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\nexit ${status}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("the Python that has distributed", () => {
  test("is the one of the option, before that of the environment", async () => {
    const [option, environment] = [fakePython("option", 0), fakePython("environment", 0)];
    vi.stubEnv("FACTORLOOM_PYTHON", environment);
    expect(await findPython(option)).toBe(option);
    expect(await findPython()).toBe(environment);
  });

  test("is the one on the PATH, if it has it", async () => {
    fakePython("python3", 0);
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
    expect(await findPython()).toBe("python3");
  });

  test("is no other one if that of the option or of the environment lacks it", async () => {
    const lacking = fakePython("lacking", 1);
    const message = (path: string) => `no Python with Dask's distributed was found (tried ${path})`;
    await expect(findPython(lacking)).rejects.toMatchObject({ code: "E602", problem: message(lacking) });
    vi.stubEnv("FACTORLOOM_PYTHON", "/nowhere/python3");
    await expect(findPython()).rejects.toMatchObject({ code: "E602", problem: message("/nowhere/python3") });
  });

  test("is the system's if the one on the PATH lacks it", async () => {
    fakePython("python3", 1);
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
    const end = await findPython().then(
      (path) => path,
      ({ problem }) => problem,
    );
    if (isDaskThere) expect(end).toBe("/usr/bin/python3");
    else expect(end).toContain("tried python3, /usr/bin/python3");
  });
});

test("scripts are found from the sources and from the build", async () => {
  const script = pythonScript("local_cluster.py");
  expect(existsSync(script)).toBe(true);
  const built = join(import.meta.dirname, "../../../dist/src/cluster/bridge/python.js");
  const program = `import { pythonScript } from ${JSON.stringify(built)};
    process.stdout.write(pythonScript("local_cluster.py"));`;
  const found = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(found).toBe(script);
});
