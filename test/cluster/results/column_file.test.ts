import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { ClusterJob } from "../../../src/cluster/protocol/protocol.ts";
import { ColumnFile } from "../../../src/cluster/results/column_file.ts";
import { fileFolder } from "../../support/file_folder.ts";

const root = fileFolder();
let dataset: string;
beforeEach(() => {
  dataset = mkdtempSync(join(root, "dataset-"));
});

/** Two chunks of 4 and 1 rows of 2 factors and 3 lanes. */
const CHUNKS = [4, 1].map((rows) => new Uint8Array(rows * 3 * (2 * 8 + 1)).map((_, index) => index * 7));

function fileOf(run = "run", slab = 0, share = 0): ColumnFile {
  const shares = [0, 1].map(() => ({ factors: ["a", "b"], warmUpRows: 0 }));
  const cut = { slabRows: [0, 5, 10], chunkRows: 4, shares };
  const job = { cut, identity: { run }, source: { symbols: ["x", "y", "z"] } };
  return new ColumnFile(job as unknown as ClusterJob, dataset, share, slab);
}

function written(...of: Parameters<typeof fileOf>): ColumnFile {
  const file = fileOf(...of);
  for (const chunk of CHUNKS) file.append(chunk);
  file.commit();
  return file;
}

const read = (file: ColumnFile) => Array.from(file.chunks(), (chunk) => Uint8Array.from(chunk));

test("what was written is read again, until it is removed", () => {
  const file = written();
  expect(read(fileOf())).toEqual(CHUNKS);
  expect(fileOf().isWhole()).toBe(true);
  expect(readFileSync(file.path).length).toBe(file.bytes);
  expect(readdirSync(dirname(file.path))).toEqual(["0-0.columns"]);
  file.remove();
  file.remove();
  expect(fileOf().isWhole()).toBe(false);
});

const path = (file: ColumnFile) => file.path;
const flip = (file: ColumnFile, at: number) => {
  const bytes = readFileSync(file.path);
  bytes[at]! ^= 1;
  writeFileSync(file.path, bytes);
};
test.for<[what: string, damage: (file: ColumnFile) => void]>([
  ["that is missing", (file) => rmSync(file.path)],
  ["that is empty", (file) => truncateSync(file.path)],
  ["that is cut", (file) => truncateSync(file.path, file.bytes - 1)],
  ["that is longer", (file) => writeFileSync(file.path, "x", { flag: "a" })],
  ["with another byte in its first chunk", (file) => flip(file, 0)],
  ["with another byte in its last chunk", (file) => flip(file, file.bytes - 9)],
  ["with another byte in a sum", (file) => flip(file, file.bytes - 8)],
  ["of another run", (file) => writeFileSync(file.path, readFileSync(path(written("other"))))],
  ["of another slab", (file) => writeFileSync(file.path, readFileSync(path(written("run", 1))))],
  ["of another share", (file) => writeFileSync(file.path, readFileSync(path(written("run", 0, 1))))],
])("a file %s is missing, and is removed", ([, damage]) => {
  const file = written();
  damage(file);
  expect(() => read(fileOf())).toThrow(
    `E610 ${file.path}, which tasks of this run share, is missing or was changed`,
  );
  expect(existsSync(file.path)).toBe(false);
  expect(fileOf().isWhole()).toBe(false);
  expect(read(written())).toEqual(CHUNKS);
});

test("an unfinished file leaves nothing; one that is finished stays", () => {
  const file = fileOf();
  file.append(CHUNKS[0]!);
  expect(fileOf().isWhole()).toBe(false);
  file.abort();
  expect(readdirSync(dirname(file.path))).toEqual([]);
  fileOf().abort();
  written().abort();
  expect(fileOf().isWhole()).toBe(true);
});

test("two executors that write the same file do not disturb each other", () => {
  const [one, other] = [fileOf(), fileOf()];
  for (const chunk of CHUNKS) for (const file of [one, other]) file.append(chunk);
  one.commit();
  other.commit();
  expect(read(fileOf())).toEqual(CHUNKS);
});

test("a file that cannot be written: E442 names it", () => {
  writeFileSync(join(dataset, "_columns"), "in the way");
  expect(() => fileOf().append(CHUNKS[0]!)).toThrow(`E442 the client cannot write ${fileOf().path}: `);
});
