import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** Where the build reads: what is newer there than the last file that a build makes is not in `dist`. */
const CONFIGS = ["tsconfig.json", "tsconfig.build.json", "package.json"];
const LAST_BUILT = join(root, "dist/src/cli/main.js");

/** Before a run: builds `dist` where it is older than its sources, so that tests of the command line run what stands there. */
export function setup(): void {
  const { include } = JSON.parse(readFileSync(join(root, "tsconfig.build.json"), "utf8")) as {
    include: readonly string[];
  };
  const newest = Math.max(...[...CONFIGS, ...include].map((path) => newestMs(join(root, path))));
  if (newest <= builtMs()) return;
  execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}

function builtMs(): number {
  return statSync(LAST_BUILT, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}

/** When a file or anything below a folder was changed; a folder is changed where a file of it goes away. */
function newestMs(path: string): number {
  const below = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: "utf8" }).map(
        (entry) => statSync(join(path, entry)).mtimeMs,
      )
    : [];
  return Math.max(statSync(path).mtimeMs, ...below);
}
