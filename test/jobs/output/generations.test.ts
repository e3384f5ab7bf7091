import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Generations } from "../../../src/jobs/output/generations.ts";
import { fileFolder } from "../../support/file_folder.ts";

const newSink = () => join(mkdtempSync(join(fileFolder(), "sink-")), "factors");

function write(generations: Generations, generation: number, name: string, text: string): void {
  const path = join(generations.folderOf(generation), name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

const read = (sink: string, name: string) => readFileSync(join(sink, name), "utf8");

describe("a sink", () => {
  test("begins as a link to a generation", async () => {
    const sink = newSink();
    const generations = new Generations(sink);
    expect(await generations.shown()).toBeNull();
    await generations.begin(1);
    await generations.begin(1);
    expect(await generations.shown()).toBe(1);
    expect(readdirSync(sink)).toEqual([]);
  });

  test.each([
    "nothing",
    "the link",
    "the folder is moved",
  ])("that is a folder becomes a generation; a crash after %s", async (done) => {
    const sink = newSink();
    const generations = new Generations(sink);
    mkdirSync(join(sink, "date=2024-01-02"), { recursive: true });
    writeFileSync(join(sink, "date=2024-01-02", "part-1.parquet"), "a");
    const whole = join(sink, "..", ".factors");
    if (done !== "nothing") mkdirSync(whole);
    if (done === "the link") writeFileSync(join(whole, "link"), "");
    if (done === "the folder is moved") renameSync(sink, join(whole, "1"));
    await generations.begin(1);
    expect(read(sink, "date=2024-01-02/part-1.parquet")).toBe("a");
    expect(await generations.shown()).toBe(1);
  });
});

test("a part that stays is the same file, and others are of one generation", async () => {
  const sink = newSink();
  const generations = new Generations(sink);
  await generations.begin(1);
  write(generations, 1, "a/one", "1");
  write(generations, 1, "two", "1");
  expect(await generations.keep("a/one", 1, 2)).toBe(0);
  write(generations, 2, "two", "2");
  expect(statSync(join(generations.folderOf(2), "a/one")).ino).toBe(statSync(join(sink, "a/one")).ino);
  expect(read(sink, "two")).toBe("1");
  await generations.switchTo(2);
  expect([read(sink, "a/one"), read(sink, "two")]).toEqual(["1", "2"]);
  await expect(generations.keep("a/one", 1, 2)).rejects.toThrow("EEXIST");
  await expect(generations.keep("missing", 1, 2)).rejects.toThrow("ENOENT");
});

test("a reader that resolves the link once sees whole generations", async () => {
  const sink = newSink();
  const generations = new Generations(sink);
  await generations.begin(1);
  const names = ["a", "b", "c"];
  for (const name of names) write(generations, 1, name, "1");
  let [isDone, seen] = [false, 0];
  const reader = (async () => {
    while (!isDone) {
      const folder = realpathSync(sink);
      const texts: string[] = [];
      for (const name of names) {
        texts.push(read(folder, name));
        await setImmediate();
      }
      expect(new Set(texts).size).toBe(1);
      seen++;
    }
  })();
  for (let next = 2; next < 40; next++) {
    for (const name of names) write(generations, next, name, String(next));
    await generations.switchTo(next);
    await setImmediate();
  }
  isDone = true;
  await reader;
  expect(seen).toBeGreaterThan(5);
});

test("old generations stay for an hour after they were replaced", async () => {
  const sink = newSink();
  const generations = new Generations(sink);
  await generations.begin(1);
  write(generations, 2, "a", "2");
  await generations.switchTo(2);
  const folders = () => readdirSync(join(sink, "..", ".factors")).sort();
  await generations.removeOld(2, Date.now() + 3_500_000);
  expect(folders()).toEqual(["1", "2"]);
  await generations.removeOld(2, Date.now() + 3_700_000);
  expect(folders()).toEqual(["2"]);
});
