import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findPython } from "../../src/cluster/bridge/python.ts";

/** What some tests need, and npm does not bring. */
export interface Need {
  readonly name: string;
  /** The command that installs it. */
  readonly install: string;
  readonly isThere: () => Promise<boolean>;
}

/** Of Debian's package `faketime`. */
export const FAKETIME_LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

const DASK: Need = {
  name: "Dask",
  install: ".ci/install_dask",
  isThere: async () =>
    await findPython().then(
      () => true,
      () => false,
    ),
};

const FAKETIME: Need = {
  name: "libfaketime",
  install: ".ci/install_faketime",
  isThere: async () => existsSync(FAKETIME_LIBRARY),
};

const OPENSSL: Need = {
  name: "openssl",
  install: ".ci/install_openssl",
  isThere: async () => spawnSync("openssl", ["version"]).error === undefined,
};

/** Of Debian's package `chromium`. */
export const CHROMIUM_PATH = "/usr/bin/chromium";

const CHROMIUM: Need = {
  name: "Chromium",
  install: ".ci/install_chromium",
  isThere: async () => existsSync(CHROMIUM_PATH),
};

export const NEEDS: readonly Need[] = [DASK, FAKETIME, OPENSSL, CHROMIUM];

/**
 * Whether this machine has it. A user need not: what needs it is then left out, and the runner says so. In CI its absence
 * is a failure, since nothing would ever be tried.
 */
async function has({ name, install, isThere }: Need): Promise<boolean> {
  if (await isThere()) return true;
  if (process.env["CI"] === "true") throw new Error(`${name} is missing: run ${install}`);
  return false;
}

export const hasDask = (): Promise<boolean> => has(DASK);
export const hasFaketime = (): Promise<boolean> => has(FAKETIME);
export const hasChromium = (): Promise<boolean> => has(CHROMIUM);
export const hasOpenssl = (): Promise<boolean> => has(OPENSSL);
