import { afterAll } from "vitest";
import { removeFileFolder } from "./file_folder.ts";

// Vitest runs this before each test file, also where files share a process and its modules.
afterAll(removeFileFolder);
