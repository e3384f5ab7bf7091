import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LaneRow } from "../../src/checkpoint/lane_rows.ts";
import { readCheckpoint, type StoredCheckpoint } from "../../src/checkpoint/read_checkpoint.ts";
import { type RecurrencePoint, type Snapshot, withLanes } from "../../src/checkpoint/state_file.ts";
import {
  checkpointBytes,
  removeOthers,
  type WrittenFolder,
  writeFolder,
} from "../../src/checkpoint/write_checkpoint.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";

const folder = fileFolder();

/** As a session writes it. */
async function writeTo(path: string, snapshot: Snapshot, known?: WrittenFolder): Promise<WrittenFolder> {
  const written = await writeFolder(path, snapshot, known);
  await removeOthers(path, written);
  return written;
}

/** Rows as a session keeps them: some are dropped, the newest may be revised, lanes and columns are added. */
class RandomRows {
  readonly #random: Seeded;
  readonly #laneCount: number;
  #lanes: number;
  #fields = ["close"];
  #first = 0;
  #rows: LaneRow[] = [];
  #points: RecurrencePoint[] = [];

  constructor(random: Seeded) {
    this.#random = random;
    this.#lanes = 1 + random.below(5);
    this.#laneCount = 9;
  }

  add(count: number): void {
    const random = this.#random;
    for (let i = 0; i < count; i++) {
      if (random.below(6) === 0) this.#lanes = Math.min(8, this.#lanes + 1);
      if (random.below(6) === 0) this.#fields = [...new Set([...this.#fields, `f${random.below(3)}`])];
      this.#rows.push(this.#row());
      if (random.below(4) === 0) this.#points.push(this.#point());
    }
  }

  revise(): void {
    if (this.#rows.length > 0) this.#rows[this.#rows.length - 1] = this.#row();
  }

  drop(count: number): void {
    const dropped = Math.min(count, Math.max(0, this.#rows.length - 1));
    this.#rows = this.#rows.slice(dropped);
    this.#first += dropped;
    this.#points = this.#points.filter(({ row }) => row >= this.#first);
  }

  get snapshot(): Snapshot {
    return {
      description: { count: this.#first + this.#rows.length },
      // The last one is in no use.
      lanes: this.#lanes + 1,
      laneCount: this.#laneCount,
      firstRow: this.#first,
      rows: [...this.#rows],
      points: [...this.#points],
      renewals: 0,
    };
  }

  #row(): LaneRow {
    const random = this.#random;
    const values = () =>
      Float64Array.from({ length: this.#laneCount }, (_, lane) =>
        lane >= this.#lanes || random.below(9) === 0
          ? Number.NaN
          : random.below(9) === 0
            ? -0
            : random.uniform(),
      );
    const fields = this.#fields.filter((_, index) => index === 0 || random.below(4) > 0);
    const codes = Int32Array.from({ length: this.#laneCount }, () => random.below(4) - 1);
    const present = Uint8Array.from({ length: this.#laneCount }, () => random.below(2));
    return {
      time: 2n ** 60n + BigInt(this.#first + this.#rows.length),
      present: random.below(2) === 0 ? null : present,
      fields: new Map(fields.map((name) => [name, values()])),
      groups: new Map(random.below(3) === 0 ? [["sector", codes]] : []),
      params: new Map<string, number | string | boolean>([
        ["k", [-0, Number.NEGATIVE_INFINITY, 1e-300, 7][random.below(4)]!],
        ["when", random.below(2) === 0 ? "open" : "ü"],
        ["on", random.below(2) === 0],
      ]),
    };
  }

  #point(): RecurrencePoint {
    const state = (vectors: number) =>
      Float64Array.from({ length: vectors * this.#laneCount }, (_, index) =>
        // Lanes that are not in use are equal.
        index % this.#laneCount < this.#lanes ? this.#random.uniform() : 7,
      );
    const both = state(2);
    const values = new Map([
      ["a", both],
      ["b", both],
      ["c", state(1)],
    ]);
    return {
      row: this.#first + this.#rows.length,
      values,
      exact: new Set(this.#random.below(2) === 0 ? ["a", "c"] : ["b"]),
    };
  }
}

/** What a snapshot says, for comparison: by symbol, whatever the number of lanes. */
function said({ lanes, laneCount, firstRow, description, points, rows }: Snapshot) {
  return {
    firstRow,
    description,
    lanes,
    points: points.map(({ row, values, exact }) => ({
      row,
      exact,
      values: new Map([...values].map(([name, state]) => [name, [...state]])),
    })),
    rows: rows.map((row) => shown(row, lanes)),
    laneCount,
  };
}

function read(stored: StoredCheckpoint<unknown>, laneCount: number) {
  const { lanes } = stored;
  const from = Array.from({ length: laneCount }, (_, lane) => Math.min(lane, lanes - 1));
  const points = stored.points.map((point) => withLanes(point, lanes, from));
  return said({ ...stored, laneCount, points, renewals: 0 });
}

/** Rows of earlier segments have fewer lanes: the others had nothing. */
function shown({ time, present, fields, groups, params }: LaneRow, lanes: number) {
  const cells = (values: ArrayLike<number>, count: number) =>
    Array.from({ length: count }, (_, lane) => values[lane]!);
  const own = Math.min(lanes, [...fields.values()][0]!.length);
  return {
    time,
    present: present && cells(present, own).slice(0, lanes),
    fields: new Map([...fields].map(([name, values]) => [name, cells(values, own)])),
    groups: new Map([...groups].map(([name, codes]) => [name, cells(codes, own)])),
    params,
  };
}

/** The two, with rows cut to the lanes that were stored. */
async function expectRead(from: string | Uint8Array, snapshot: Snapshot): Promise<StoredCheckpoint<unknown>> {
  const stored = await readCheckpoint(from);
  const found = read(stored, snapshot.laneCount);
  const expected = said(snapshot);
  for (const [index, row] of expected.rows.entries()) {
    const { length } = [...found.rows[index]!.fields.values()][0]!;
    row.present = row.present?.slice(0, length) ?? null;
    for (const columns of [row.fields, row.groups])
      for (const [name, cells] of columns) columns.set(name, cells.slice(0, length));
  }
  expect(found).toEqual(expected);
  return stored;
}

const filesOf = (path: string) => readdirSync(path).sort();

describe("a checkpoint", () => {
  test("is read as it was written, continued by who wrote or read it, as bytes and as a folder", async () => {
    const random = new Seeded();
    let [continued, kept] = [0, 0];
    for (let life = 0; life < 10; life++) {
      const path = join(folder, `life${life % 2}`);
      const rows = new RandomRows(random);
      let known: WrittenFolder | undefined;
      for (let step = 0; step < 8; step++) {
        rows.add(random.below(12));
        if (random.below(3) === 0) rows.drop(random.below(20));
        if (random.below(3) === 0) rows.revise();
        const { snapshot } = rows;
        const before = new Set(known ? filesOf(path) : []);
        known = await writeTo(path, snapshot, known);
        expect(filesOf(path)).toEqual([...known.segments.map(({ name }) => name), "state"].sort());
        kept += known.segments.filter(({ name }) => before.has(name)).length;
        const stored = await expectRead(path, snapshot);
        await expectRead(await checkpointBytes(snapshot), snapshot);
        if (random.below(2) === 0) {
          known = stored.written;
          continued++;
        }
      }
    }
    expect(continued).toBeGreaterThan(20);
    expect(kept).toBeGreaterThan(30);
  });

  test("writes only new rows into a folder that it knows, and all into one that another has written to", async () => {
    const random = new Seeded();
    const path = join(folder, "grown");
    const rows = new RandomRows(random);
    rows.add(200);
    const first = await writeTo(path, rows.snapshot);
    const bytes = first.segments.reduce((sum, segment) => sum + segment.bytes, 0);
    rows.add(1);
    const second = await writeTo(path, rows.snapshot, first);
    expect(second.segments.slice(0, first.segments.length - 1)).toEqual(first.segments.slice(0, -1));
    expect(second.segments.reduce((sum, segment) => sum + segment.bytes, 0) - bytes).toBeLessThan(2000);
    const other = new RandomRows(random);
    other.add(3);
    await writeTo(path, other.snapshot);
    rows.add(1);
    await writeTo(path, rows.snapshot, second);
    await expectRead(path, rows.snapshot);
  });
});

describe("a kill", () => {
  test("at any step leaves the former checkpoint, from which rows are written on", async () => {
    const random = new Seeded();
    for (let round = 0; round < 20; round++) {
      const rows = new RandomRows(random);
      const [path, after] = [join(folder, `killed${round}`), join(folder, `after${round}`)];
      rows.add(2 + random.below(10));
      const known = await writeTo(path, rows.snapshot);
      const former = rows.snapshot;
      cpSync(path, after, { recursive: true });
      rows.add(1 + random.below(10));
      if (random.below(2) === 0) rows.drop(random.below(6));
      const next = rows.snapshot;
      await writeTo(after, next, known);
      await expectRead(after, next);
      const steps = [path];
      // Segments are written in part, then whole, then the state in part, then it has its name and old segments are there still.
      for (const share of [random.uniform(), 1]) {
        const step = join(folder, `step${round}-${share}`);
        steps.push(step);
        cpSync(path, step, { recursive: true });
        for (const name of filesOf(after).filter((one) => one !== "state")) {
          const length = known.segments.find((one) => one.name === name)?.bytes ?? 0;
          const bytes = readFileSync(join(after, name));
          writeFileSync(
            join(step, name),
            bytes.subarray(0, length + Math.ceil(share * (bytes.length - length))),
          );
        }
      }
      writeFileSync(
        join(steps.at(-1)!, ".state.00000000-1.000000000000.tmp"),
        readFileSync(join(after, "state")).subarray(0, 50),
      );
      for (const step of steps) {
        const { written } = await expectRead(step, former);
        await writeTo(step, next, written);
        await expectRead(step, next);
      }
      const renamed = steps.at(-1)!;
      cpSync(path, renamed, { recursive: true });
      cpSync(after, renamed, { recursive: true });
      await expectRead(renamed, next);
    }
  });
});

test("a folder whose first checkpoint was killed holds none, until one is written to its end", async () => {
  const random = new Seeded();
  for (let round = 0; round < 10; round++) {
    const rows = new RandomRows(random);
    const path = join(folder, `first${round}`);
    rows.add(2 + random.below(10));
    await writeTo(path, rows.snapshot);
    rmSync(join(path, "state"));
    for (const name of filesOf(path)) truncateSync(join(path, name), random.below(50));
    await expect(readCheckpoint(path)).rejects.toThrow(`E309 ${path}: holds no checkpoint (ENOENT`);
    const { segments } = await writeTo(path, rows.snapshot);
    expect(filesOf(path)).toEqual([...segments.map(({ name }) => name), "state"].sort());
    await expectRead(path, rows.snapshot);
  }
});

describe("damage", () => {
  test.each([
    "dropped",
    "truncated",
    "flipped",
    "swapped",
    "unharmed",
  ] as const)("of a file, %s", async (kind) => {
    const random = new Seeded();
    for (let round = 0; round < 40; round++) {
      const rows = new RandomRows(random);
      const path = join(folder, `${kind}${round}`);
      rows.add(8 + random.below(20));
      const known = await writeTo(path, rows.snapshot);
      rows.add(3);
      await writeTo(path, rows.snapshot, known);
      const names = filesOf(path);
      const name = names[random.below(names.length)]!;
      const file = join(path, name);
      const bytes = readFileSync(file);
      if (kind === "dropped") rmSync(file);
      if (kind === "truncated") truncateSync(file, random.below(bytes.length));
      if (kind === "flipped") {
        const at = random.below(bytes.length);
        bytes[at]! ^= 1 << random.below(8);
        writeFileSync(file, bytes);
      }
      if (kind === "swapped") {
        const other = join(path, names[(names.indexOf(name) + 1) % names.length]!);
        renameSync(file, `${file}.other`);
        renameSync(other, file);
        renameSync(`${file}.other`, other);
      }
      if (kind === "unharmed") {
        appendFileSync(file, "behind");
        await expectRead(path, rows.snapshot);
        continue;
      }
      const error = await readCheckpoint(path).catch((one) => one);
      // A folder without a state holds no checkpoint. A version that is not known may be that of a later release.
      const isGone = kind === "dropped" && name === "state";
      expect(isGone ? ["E309"] : ["E351", "E352"]).toContain(error.code);
      expect(error.message).toContain(kind === "swapped" || isGone ? path : file);
    }
  });

  test("of bytes", async () => {
    const random = new Seeded();
    for (let round = 0; round < 100; round++) {
      const rows = new RandomRows(random);
      rows.add(8 + random.below(20));
      const bytes = await checkpointBytes(rows.snapshot);
      await expectRead(bytes, rows.snapshot);
      const wrong = random.below(2) === 0 ? bytes.slice(0, random.below(bytes.length)) : bytes.slice();
      if (wrong.length === bytes.length) wrong[random.below(bytes.length)]! ^= 1 << random.below(8);
      await expect(readCheckpoint(wrong)).rejects.toThrow(/^E35[12] the checkpoint/);
    }
  });

  test("of the place: no folder, a file, a checkpoint of an earlier release", async () => {
    await expect(readCheckpoint(join(folder, "none"))).rejects.toMatchObject({ code: "E309" });
    const file = join(folder, "file");
    writeFileSync(file, "text");
    await expect(readCheckpoint(file)).rejects.toThrow(
      `E351 ${file}: the checkpoint is damaged: it does not start with its signature`,
    );
    writeFileSync(file, "FLSC and more");
    const says =
      "the checkpoint was written by factorloom 0.1 or 0.2\n  go on with that release, or start again from history";
    await expect(readCheckpoint(file)).rejects.toThrow(`E352 ${file}: ${says}`);
    await expect(readCheckpoint(readFileSync(file))).rejects.toThrow(`E352 ${says}`);
    await expect(writeTo(file, new RandomRows(new Seeded()).snapshot)).rejects.toMatchObject({
      code: "E442",
    });
  });
});
