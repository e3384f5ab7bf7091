import { createHash, type Hash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, relative, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { listInputFiles } from "../../data/read/input_files.ts";
import { inputDiffers, sourceNotShared } from "../protocol/errors.ts";
import type { InputDigest, JobSource } from "../protocol/protocol.ts";

/** Files up to this size are digested completely, which takes 20 ms. */
const WHOLE_BYTES_MAX = 2 ** 25;
/** Of larger files, the start, the end, where formats have footers, and evenly spaced blocks are digested. */
const END_BYTES = 2 ** 20;
const SAMPLE_BYTES = 2 ** 12;
const SAMPLES = 64;

/** Paths that workers read; none if the client brings the panel. */
function pathsRead({ path, isBrought, options }: JobSource): string[] {
  if (isBrought) return [];
  return [path, options["groups"], options["series"], options["renames"]].filter(
    (input) => typeof input === "string",
  );
}

/** What this host sees under the paths that workers read. @throws as `listInputFiles`. */
export async function digestInputs(source: JobSource, signal?: AbortSignal): Promise<InputDigest[]> {
  const inputs: InputDigest[] = [];
  for (const path of pathsRead(source)) {
    const files: InputDigest["files"][number][] = [];
    for (const file of await filesOf(path)) {
      // Lets an abort arrive between files.
      await setImmediate();
      signal?.throwIfAborted();
      files.push({ name: nameBelow(path, file), ...digestFile(file) });
    }
    inputs.push({ path, files });
  }
  return inputs;
}

/** Checks that this host sees the client's files: at first all, then those whose size, time or inode has changed. */
export class InputCheck {
  readonly #inputs: readonly InputDigest[];
  readonly #seen = new Map<string, string>();

  constructor(inputs: readonly InputDigest[]) {
    this.#inputs = inputs;
  }

  /** @throws DataError E615 for a path that cannot be read, or that names the difference; as `listInputFiles`. */
  async check(): Promise<void> {
    for (const { path, files } of this.#inputs) {
      checkReadable(path);
      const seen = await filesOf(path);
      const names = seen.map((file) => nameBelow(path, file));
      if (names.join("\n") !== files.map(({ name }) => name).join("\n"))
        throw inputDiffers(
          path,
          hostname(),
          `${names.length} files, or other names, for ${files.length} files`,
        );
      for (const [index, { bytes, digest }] of files.entries()) this.#checkFile(seen[index]!, bytes, digest);
    }
  }

  #checkFile(file: string, bytes: number, digest: string): void {
    const status = markOf(statSync(file));
    if (this.#seen.get(file) === status) return;
    const found = digestFile(file);
    if (found.bytes !== bytes) throw inputDiffers(file, hostname(), `${found.bytes} bytes, there ${bytes}`);
    if (found.digest !== digest) throw inputDiffers(file, hostname(), "other bytes");
    this.#seen.set(file, status);
  }
}

/** @throws DataError E615 */
function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw sourceNotShared(path, (error as Error).message);
  }
}

const markOf = ({ ino, size, mtimeMs }: Stats) => `${ino} ${size} ${mtimeMs}`;

async function filesOf(path: string): Promise<readonly string[]> {
  return (await listInputFiles(path)).paths;
}

/** The path of a file below its folder; the name of an input that is a file. */
function nameBelow(path: string, file: string): string {
  return relative(resolve(path), file) || basename(file);
}

function digestFile(file: string): Omit<InputDigest["files"][number], "name"> {
  const fd = openSync(file, "r");
  try {
    const { size, mtimeMs } = fstatSync(fd);
    const hash = createHash("sha256").update(`${size}\n`);
    const buffer = Buffer.alloc(Math.min(size, END_BYTES));
    for (const [first, end] of rangesOf(size)) update(hash, fd, buffer, first, end);
    const changedMs = size > WHOLE_BYTES_MAX ? mtimeMs : null;
    return { bytes: size, digest: hash.digest("hex"), changedMs };
  } finally {
    closeSync(fd);
  }
}

/** The bytes to digest. */
function rangesOf(size: number): (readonly [first: number, end: number])[] {
  if (size <= WHOLE_BYTES_MAX) return [[0, size]];
  const samples = Array.from({ length: SAMPLES }, (_, index) => {
    const first = Math.floor((size * (index + 1)) / (SAMPLES + 1));
    return [first, first + SAMPLE_BYTES] as const;
  });
  return [[0, END_BYTES], ...samples, [size - END_BYTES, size]];
}

function update(hash: Hash, fd: number, buffer: Buffer, first: number, end: number): void {
  for (let position = first; position < end; ) {
    const count = readSync(fd, buffer, 0, Math.min(buffer.length, end - position), position);
    // The file has been truncated: its digest differs.
    if (count === 0) return;
    hash.update(buffer.subarray(0, count));
    position += count;
  }
}
