import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { missingNeeds } from "./needs.ts";

const run = promisify(execFile);

/**
 * Installs what tests need and this machine lacks, from Debian or Ubuntu: as root, or by sudo where that is asked for. What
 * cannot be installed fails no test: the tests that need it are left out by name.
 */
export async function installNeeds(mayAskSudo: boolean): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && !mayAskSudo) return;
  const missing = await missingNeeds();
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(", ");
  console.log(`installing ${names} for tests, from Debian or Ubuntu: 1 to 4 minutes, once`);
  const began = performance.now();
  const aptGet = (...args: string[]) => {
    const [command, ...words] = [...(isRoot ? [] : ["sudo"]), "apt-get", ...args];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    return run(command!, words, { env, maxBuffer: 64 << 20 });
  };
  try {
    await aptGet("update", "--quiet");
    const packages = missing.map((need) => need.package);
    await aptGet("install", "--quiet", "--yes", "--no-install-recommends", ...packages);
    console.log(`installed in ${Math.round((performance.now() - began) / 1000)} s`);
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const reason = (stderr || message).trim().split("\n").at(-1);
    console.log(`not installed (${reason}): tests that need ${names} are left out`);
  }
}
