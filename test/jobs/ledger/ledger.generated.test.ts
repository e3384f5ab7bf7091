import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { Ledger } from "../../../src/jobs/ledger/ledger.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { type Answers, answersOf, RandomRecords } from "./random_records.ts";

const root = fileFolder();
const random = new Seeded();
const SEED = `SEED=${random.seed}`;
const seedOf = () => random.below(2 ** 31);

/** A path for a ledger in a folder of its own. */
function pathIn(name: string): string {
  mkdirSync(join(root, name));
  return join(root, name, "ledger.sqlite");
}

test("a ledger that is opened again says what was added, to a reader beside its writer as well", async () => {
  for (let trial = 0; trial < trials(3, 200); trial += 1) {
    const path = pathIn(`again${trial}`);
    const records = new RandomRecords(seedOf());
    let ledger = await Ledger.open(path, "bars", "write");
    for (let count = 0; count < 40; count += 1) {
      records.next()(ledger);
      if (random.below(4) > 0) continue;
      using reader = await Ledger.open(path, "bars", "read");
      for (const each of [ledger, reader])
        expect(answersOf(each), `${SEED} trial ${trial}`).toEqual(wellFormed(records.answers));
      if (random.below(3) > 0) continue;
      ledger[Symbol.dispose]();
      ledger = await Ledger.open(path, "bars", "write");
    }
    ledger.verify();
    expect(ledger.consumed.get("/bars/none")).toBeNull();
    ledger[Symbol.dispose]();
  }
});

test(`a writer that is killed leaves what it has said, and at most one record more`, async () => {
  const driver = join(import.meta.dirname, "killed_writer.ts");
  for (let kill = 0; kill < trials(2, 100); kill += 1) {
    const [path, seed] = [pathIn(`killed${kill}`), seedOf()];
    const child = spawn(process.execPath, [driver, path, String(seed)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said = text(child.stdout);
    await once(child.stdout, "readable");
    setTimeout(() => child.kill("SIGKILL"), random.below(150));
    await once(child, "exit");
    const counts = (await said).trim().split("\n");
    const records = new RandomRecords(seed);
    for (let count = 0; count < counts.length; count += 1) records.next();
    const before = wellFormed(records.answers);
    records.next();
    using ledger = await Ledger.open(path, "bars", random.below(2) === 0 ? "read" : "write");
    ledger.verify();
    expect(
      [before, wellFormed(records.answers)],
      `${SEED} kill ${kill} after ${counts.length}`,
    ).toContainEqual(answersOf(ledger));
  }
});

/** Ways to damage a file. */
const HARM = {
  flip: (bytes: Buffer) => {
    bytes[random.below(bytes.length)]! ^= 1 + random.below(255);
    return bytes;
  },
  truncate: (bytes: Buffer) => bytes.subarray(0, random.below(bytes.length)),
  zero: (bytes: Buffer) => {
    const first = random.below(bytes.length);
    return bytes.fill(0, first, Math.min(bytes.length, first + 1 + random.below(600)));
  },
  exchange: (bytes: Buffer) => {
    const [a, b] = [0, 0].map(() => 4096 * random.below(bytes.length / 4096)) as [number, number];
    const page = Buffer.from(bytes.subarray(a, a + 4096));
    bytes.copyWithin(a, b, b + 4096);
    bytes.set(page, b);
    return bytes;
  },
} as const;

test("a ledger that was damaged is refused by name, or says what it said before", async () => {
  const path = pathIn("whole");
  const records = new RandomRecords(seedOf());
  const whole = await Ledger.open(path, "bars", "write");
  for (let count = 0; count < 80; count += 1) records.next()(whole);
  whole[Symbol.dispose]();
  const bytes = readFileSync(path);
  const expected = wellFormed(records.answers);
  const counts = { refused: 0, same: 0 };
  for (let trial = 0; trial < trials(400, 20_000); trial += 1) {
    const how = Object.keys(HARM)[random.below(4)] as keyof typeof HARM;
    const harmed = join(root, "whole", `${trial % 8}.sqlite`);
    writeFileSync(harmed, HARM[how](Buffer.from(bytes)));
    const label = `${SEED} trial ${trial}: ${how}`;
    const found = await answersIfWhole(harmed).catch((error: unknown) => error);
    if (found instanceof Error) {
      counts.refused += 1;
      expect(found, label).toMatchObject({
        code: "E360",
        message: expect.stringContaining(`E360 ${harmed}: `),
      });
    } else {
      counts.same += 1;
      expect(found, label).toEqual(expected);
    }
  }
  expect(Math.min(counts.refused, counts.same), `${SEED} ${JSON.stringify(counts)}`).toBeGreaterThan(0);
});

async function answersIfWhole(path: string): Promise<Answers> {
  using ledger = await Ledger.open(path, "bars", random.below(2) === 0 ? "read" : "write");
  const answers = answersOf(ledger);
  ledger.verify();
  return answers;
}

/** As texts are on the disk. */
function wellFormed(answers: Answers): Answers {
  return JSON.parse(JSON.stringify(answers)) as Answers;
}
