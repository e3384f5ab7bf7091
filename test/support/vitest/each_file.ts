// Vitest runs this before each test file, also where files share a process and its modules.
import { configureGlobal } from "fast-check";
import { afterAll } from "vitest";
import { removeFileFolder } from "../file_folder.ts";
import { testSeed } from "../seeded.ts";

configureGlobal({ seed: testSeed() });

afterAll(removeFileFolder);
