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

/** A program of this name that prints these lines, or fails if there are none; its path. */
function fakePython(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  const body = lines.length > 0 ? lines.map((line) => `echo ${line}`).join("\n") : "exit 1";
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("the Python that has distributed", () => {
  test("is the one of the option, before that of the environment", async () => {
    const option = fakePython("option", "3.12.1", "2025.1.0");
    vi.stubEnv("FACTORLOOM_PYTHON", fakePython("environment", "3.9.0", "2022.1.0"));
    expect(await findPython(option)).toEqual({ path: option, python: "3.12.1", distributed: "2025.1.0" });
    expect(await findPython()).toMatchObject({ python: "3.9.0", distributed: "2022.1.0" });
  });

  test("is the one on the PATH, if it has it; a banner before the versions is passed over", async () => {
    fakePython("python3", "hello", "3.13.0", "2024.8.0");
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
    expect(await findPython()).toEqual({ path: "python3", python: "3.13.0", distributed: "2024.8.0" });
  });

  test("is no other one if that of the option or of the environment lacks it", async () => {
    const lacking = fakePython("lacking");
    const message = (path: string) => `no Python with Dask's distributed was found (tried ${path})`;
    await expect(findPython(lacking)).rejects.toMatchObject({ code: "E602", problem: message(lacking) });
    vi.stubEnv("FACTORLOOM_PYTHON", "/nowhere/python3");
    await expect(findPython()).rejects.toMatchObject({ code: "E602", problem: message("/nowhere/python3") });
  });

  test("is the system's if the one on the PATH lacks it", async () => {
    fakePython("python3");
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
    const end = await findPython().then(
      ({ path }) => path,
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
