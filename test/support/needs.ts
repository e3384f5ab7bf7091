import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findPython } from "../../src/cluster/bridge/python.ts";

/** What some tests need, and npm does not bring. */
export interface Need {
  readonly name: string;
  /** Debian's package. */
  readonly package: string;
  /** Tried, not looked for: a file may be there whose program does not run. */
  readonly isThere: () => Promise<boolean>;
}

/** What a program prints; null where it does not start, or fails. */
async function outputOf(command: string, ...args: string[]): Promise<string | null> {
  try {
    return (await promisify(execFile)(command, args, { timeout: 60_000 })).stdout.trim();
  } catch {
    return null;
  }
}

/** The system's Python: Debian's packages are there for it. */
export const SYSTEM_PYTHON = "/usr/bin/python3";

const DASK: Need = {
  name: "Dask",
  package: "python3-distributed",
  isThere: async () =>
    await findPython().then(
      () => true,
      () => false,
    ),
};

const PANDAS: Need = {
  name: "pandas",
  package: "python3-pandas",
  isThere: async () => (await outputOf(SYSTEM_PYTHON, "-c", "import pandas; print(1)")) === "1",
};

const FAKETIME: Need = {
  name: "libfaketime",
  package: "faketime",
  isThere: async () => (await faketimeLibrary()) !== null,
};

/** The library that sets the clock of a process with threads, if it does. */
export async function faketimeLibrary(): Promise<string | null> {
  const shown = await outputOf("faketime", "-m", "2001-02-03", "sh", "-c", "date +%Y; echo $LD_PRELOAD");
  const [year, library = ""] = shown?.split("\n") ?? [];
  return year === "2001" ? library.trim() : null;
}

const OPENSSL: Need = {
  name: "openssl",
  package: "openssl",
  isThere: async () => (await outputOf("openssl", "version")) !== null,
};

/** Of Debian's package. */
export const CHROMIUM_PATH = "/usr/bin/chromium";

const CHROMIUM: Need = {
  name: "Chromium",
  package: "chromium",
  isThere: async () => (await outputOf(CHROMIUM_PATH, "--version")) !== null,
};

export const NEEDS: readonly Need[] = [DASK, PANDAS, FAKETIME, OPENSSL, CHROMIUM];

/** Those that this machine lacks. */
export async function missingNeeds(): Promise<Need[]> {
  const isThere = await Promise.all(NEEDS.map((need) => need.isThere()));
  return NEEDS.filter((_, index) => !isThere[index]);
}

/**
 * Whether this machine has it. A user need not: what needs it is then left out, and the runner says so. In CI its absence
 * is a failure, since nothing would ever be tried.
 */
async function has({ name, isThere }: Need): Promise<boolean> {
  if (await isThere()) return true;
  if (process.env["CI"] === "true") throw new Error(`${name} is missing: \`npm test\` as root installs it`);
  return false;
}

export const hasDask = (): Promise<boolean> => has(DASK);
export const hasPandas = (): Promise<boolean> => has(PANDAS);
export const hasFaketime = (): Promise<boolean> => has(FAKETIME);
export const hasChromium = (): Promise<boolean> => has(CHROMIUM);
export const hasOpenssl = (): Promise<boolean> => has(OPENSSL);
