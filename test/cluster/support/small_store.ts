import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A folder for tiles that can be made to refuse writes, by errors of the system. */
export interface SmallStore {
  readonly path: string;
  /** From now on nothing can be written at a path that is not there yet. */
  fill(path: string): void;
  free(path: string): void;
  close(): void;
}

const SIZE = "2m";

/** A file system of its own where this process may mount one; else files stand where folders are to be made. */
export function openSmallStore(parent: string): SmallStore {
  const path = mkdtempSync(join(parent, "small-store-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    return {
      path,
      fill: (folder) => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(dirname(folder), { recursive: true });
        writeFileSync(folder, "");
      },
      free: (folder) => rmSync(folder),
      close: () => {},
    };
  }
  const filler = join(path, "filler");
  return {
    path,
    fill: () => fillUp(filler),
    free: () => rmSync(filler),
    close: () => void execFileSync("umount", ["--lazy", path]),
  };
}

function fillUp(path: string): void {
  for (let bytes = 2 ** 20; bytes >= 1; bytes = Math.floor(bytes / 2)) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

/** All files below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String);
}
