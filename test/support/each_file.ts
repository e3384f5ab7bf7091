// Vitest runs this before each test file, also where files share a process and its modules.
import { afterAll } from "vitest";
import { removeFileFolder } from "./file_folder.ts";
import { testSeed } from "./seeded.ts";

if (process.env["SEED"] !== undefined) {
  const { configureGlobal } = await import("fast-check");
  configureGlobal({ seed: testSeed() });
}

afterAll(removeFileFolder);
