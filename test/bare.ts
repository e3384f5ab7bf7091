import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canUnshare, inNamespace } from "./support/namespaces.ts";
import { NEEDS } from "./support/needs.ts";

/**
 * `npm run test:bare`: the tests that need more than npm brings, as on a machine that has only npm. In a namespace of mounts
 * of its own, programs are covered by /dev/null and the packages of Python by an empty folder.
 */
const FOLDERS = ["test/cluster", "test/golden"];
const PROGRAMS = ["git", "openssl", "faketime", "chromium", "/usr/bin/chromium"];
const PYTHONS = ["python3", "/usr/bin/python3"];
const SITES =
  "import os, site; print(*filter(os.path.isdir, [*site.getsitepackages(), site.getusersitepackages()]), sep='\\n')";

function linesOf(command: string, ...args: string[]): string[] {
  const { stdout, status } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? stdout.trim().split("\n").filter(Boolean) : [];
}

function runBare(): number {
  const covered = PROGRAMS.flatMap((name) => linesOf("sh", "-c", 'realpath "$(command -v "$0")"', name));
  const emptied = PYTHONS.flatMap((python) => linesOf(python, "-c", SITES));
  const empty = mkdtempSync(join(tmpdir(), "factorloom-bare-"));
  const mounts = [
    ...new Set(covered.map((path) => `mount --bind /dev/null '${path}'`)),
    ...new Set(emptied.map((path) => `mount --bind '${empty}' '${path}'`)),
  ];
  const script = `${mounts.join("\n")}\nexec vitest run "$@"`;
  const [command, ...args] = [...inNamespace("--mount"), "sh", "-euc", script, "sh", ...FOLDERS];
  const { CI: _, ...env } = process.env;
  try {
    const { status, stdout } = spawnSync(command!, args, {
      env,
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 64 << 20,
    });
    process.stdout.write(stdout);
    const lacking = NEEDS.map(({ name }) => name).join(", ");
    if (status === 0 && !stdout.includes(`for this machine lacks ${lacking}\n`)) {
      console.log(`not all of ${lacking} were hidden, so nothing is shown`);
      return 1;
    }
    return status ?? 1;
  } finally {
    rmdirSync(empty);
  }
}

if (canUnshare()) process.exitCode = runBare();
else {
  console.log("left out: the tests as on a machine that has only npm, for this one refuses user namespaces");
  process.exitCode = process.env["CI"] === "true" ? 1 : 0;
}
