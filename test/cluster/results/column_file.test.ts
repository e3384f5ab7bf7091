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

async function written(...of: Parameters<typeof fileOf>): Promise<ColumnFile> {
  const file = fileOf(...of);
  for (const chunk of CHUNKS) await file.append(chunk);
  await file.commit();
  return file;
}

const read = (file: ColumnFile) => Array.fromAsync(file.chunks(), (chunk) => Uint8Array.from(chunk));

test("what was written is read again, until it is removed", async () => {
  const file = await written();
  expect(await read(fileOf())).toEqual(CHUNKS);
  expect(await fileOf().isWhole()).toBe(true);
  expect(readFileSync(file.path).length).toBe(file.bytes);
  expect(readdirSync(dirname(file.path))).toEqual(["0-0.columns"]);
  await file.remove();
  await file.remove();
  expect(await fileOf().isWhole()).toBe(false);
});

const flip = (file: ColumnFile, at: number) => {
  const bytes = readFileSync(file.path);
  bytes[at]! ^= 1;
  writeFileSync(file.path, bytes);
};
test.for<[what: string, damage: (file: ColumnFile) => unknown]>([
  ["that is missing", (file) => rmSync(file.path)],
  ["that is empty", (file) => truncateSync(file.path)],
  ["that is cut", (file) => truncateSync(file.path, file.bytes - 1)],
  ["that is longer", (file) => writeFileSync(file.path, "x", { flag: "a" })],
  ["with another byte in its first chunk", (file) => flip(file, 0)],
  ["with another byte in its last chunk", (file) => flip(file, file.bytes - 9)],
  ["with another byte in a sum", (file) => flip(file, file.bytes - 8)],
  ["of another run", async (file) => writeFileSync(file.path, readFileSync((await written("other")).path))],
  ["of another slab", async (file) => writeFileSync(file.path, readFileSync((await written("run", 1)).path))],
  [
    "of another share",
    async (file) => writeFileSync(file.path, readFileSync((await written("run", 0, 1)).path)),
  ],
])("a file %s is missing, and is removed", async ([, damage]) => {
  const file = await written();
  await damage(file);
  await expect(read(fileOf())).rejects.toThrow(
    `E610 ${file.path}, which tasks of this run share, is missing or was changed`,
  );
  expect(existsSync(file.path)).toBe(false);
  expect(await fileOf().isWhole()).toBe(false);
  expect(await read(await written())).toEqual(CHUNKS);
});

test("an unfinished file leaves nothing; one that is finished stays", async () => {
  const file = fileOf();
  await file.append(CHUNKS[0]!);
  expect(await fileOf().isWhole()).toBe(false);
  await file.abort();
  expect(readdirSync(dirname(file.path))).toEqual([]);
  await fileOf().abort();
  await (await written()).abort();
  expect(await fileOf().isWhole()).toBe(true);
});

test("two executors that write the same file do not disturb each other", async () => {
  const [one, other] = [fileOf(), fileOf()];
  for (const chunk of CHUNKS) for (const file of [one, other]) await file.append(chunk);
  await one.commit();
  await other.commit();
  expect(await read(fileOf())).toEqual(CHUNKS);
});

test("a file that cannot be written: E442 names it", async () => {
  writeFileSync(join(dataset, "_columns"), "in the way");
  await expect(fileOf().append(CHUNKS[0]!)).rejects.toThrow(
    `E442 the client cannot write ${fileOf().path}: `,
  );
});
