import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string | null = null;

/** A folder of the test file that runs: files that share a process have one each. It is removed after the last test. */
export function fileFolder(): string {
  folder ??= mkdtempSync(join(tmpdir(), "factorloom-test-"));
  return folder;
}

export function removeFileFolder(): void {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
  folder = null;
}
