import { hash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { zipSync } from "fflate";
import { calibrationFile } from "../../evaluation/stored_costs.ts";
import { makeFolders } from "../../files/folders.ts";
import { packageVersion } from "../../files/package_version.ts";
import { replaceFile } from "../../files/pending_file.ts";
import type { Bridge } from "../bridge/bridge.ts";
import { type Bundle, PROTOCOL_VERSION } from "../protocol/protocol.ts";
import { type BundledFile, bundledFiles } from "./bundle_files.ts";

/** The files that an executor needs on a host that has only Node. */
type ExecutorBundle = Pick<Bundle, "digest" | "bytes" | "entry">;

export interface BundleOptions {
  /** Path of the module to run, below the root of sources, without extension. */
  readonly entry?: string | undefined;
  /** Where bundles are kept. Default: `bundles` in the user's cache folder. Null keeps none. */
  readonly cacheFolder?: string | null | undefined;
}

/** 70 MB, mostly DuckDB's library, become 25 MB in 1.3 s at level 1, 24 MB in 2.6 s at level 6. */
const LEVEL = 1;
/** Bundles that are kept: of the build, of the sources, and of earlier versions. */
const KEPT_MAX = 4;
/** A constant time, so that equal files give equal bytes. */
const TIME = new Date(1980, 0, 1);

/** Packed once: the running code does not change. */
let ownBundle: Promise<ExecutorBundle> | null = null;

/**
 * Brings the executors of this package to all workers.
 *
 * @param node path of Node on the hosts; null: `FACTORLOOM_NODE` there, else `node` on their path
 * @returns the digest of their code
 * @throws as `Bridge.install`.
 */
export async function installExecutors(bridge: Bridge, node: string | null): Promise<string> {
  const hello = { protocol: PROTOCOL_VERSION, version: packageVersion() };
  ownBundle ??= executorBundle();
  const bundle = await ownBundle;
  await bridge.install({ ...bundle, node, hello });
  return bundle.digest;
}

/**
 * The bundle of this package: of its build if that is running, else of its sources. It is kept in the user's cache folder
 * until one of its files changes.
 */
export async function executorBundle(options: BundleOptions = {}): Promise<ExecutorBundle> {
  const { files, entry } = bundledFiles(options.entry ?? "src/cluster/executor/executor_process");
  const folder = options.cacheFolder === undefined ? await defaultFolder() : options.cacheFolder;
  const key = await keyOf(files);
  const kept = folder === null ? null : await readKept(folder, key);
  if (kept) return { ...kept, entry };
  const bytes = await pack(files);
  const digest = hash("sha256", bytes);
  // A bundle that cannot be kept is packed again.
  if (folder !== null) await keep(folder, `${key}-${digest}.zip`, bytes).catch(() => {});
  return { digest, bytes, entry };
}

/** Null for users without a home folder. */
async function defaultFolder(): Promise<string | null> {
  try {
    return join(dirname(await calibrationFile()), "bundles");
  } catch {
    return null;
  }
}

/** A digest of the files: reading them takes a fraction of the time of packing them. */
async function keyOf(files: readonly BundledFile[]): Promise<string> {
  const lines = await Promise.all(
    files.map(async ({ path, source }) => `${path} ${hash("sha256", await readFile(source))}`),
  );
  return hash("sha256", [LEVEL, ...lines].join("\n")).slice(0, 32);
}

async function pack(files: readonly BundledFile[]): Promise<Uint8Array> {
  const content: Record<string, Uint8Array> = {};
  for (const { path, source } of files) content[path] = await readFile(source);
  return zipSync(content, { level: LEVEL, mtime: TIME });
}

/** Null if the bundle is missing or damaged. */
async function readKept(folder: string, key: string): Promise<Omit<ExecutorBundle, "entry"> | null> {
  try {
    const name = (await readdir(folder)).find((each) => each.startsWith(`${key}-`) && each.endsWith(".zip"));
    if (name === undefined) return null;
    const bytes = await readFile(join(folder, name));
    const digest = hash("sha256", bytes);
    return name === `${key}-${digest}.zip` ? { digest, bytes } : null;
  } catch {
    return null;
  }
}

/** Writes a bundle; removes the oldest ones. */
async function keep(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  await makeFolders(folder);
  await replaceFile(join(folder, name), bytes);
  const zips = (await readdir(folder)).filter((each) => each.endsWith(".zip"));
  const ages = await Promise.all(
    zips.map(async (each) => ({ each, time: (await stat(join(folder, each))).mtimeMs })),
  );
  const oldest = ages.sort((a, b) => b.time - a.time).slice(KEPT_MAX);
  for (const { each } of oldest) await rm(join(folder, each), { force: true });
}
