/**
 * Loaded before the code of executors: those that write a dataset wait at the gate (`gate.ts`) between two steps, which
 * are operations on files.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const folder = process.env.FACTORLOOM_TEST_GATE;
const { rmSync, readFileSync, writeFileSync } = fs;
const { rename, rm } = fs.promises;
const clock = new Int32Array(new SharedArrayBuffer(4));

function closedStep() {
  try {
    return readFileSync(`${folder}/closed`, "utf8");
  } catch {
    return "";
  }
}

function step(name) {
  const mark = `${folder}/waiting-${process.pid}`;
  if (closedStep() !== name) return;
  while (closedStep() === name) {
    writeFileSync(mark, "");
    Atomics.wait(clock, 0, 0, 5);
  }
  rmSync(mark, { force: true });
}

fs.promises.rename = async (from, to) => {
  const isCounts = /\/\.part-[^/]*\.json$/.test(to);
  if (/\/part-[^/]*\.parquet$/.test(to)) step("a part without its name");
  if (isCounts) step("a part without its counts");
  await rename(from, to);
  if (to.endsWith(".columns")) step("columns");
  if (isCounts) step("a part beside its columns");
};
fs.promises.rm = async (path, options) => {
  await rm(path, options);
  if (String(path).endsWith(".columns")) step("a part beside some of its columns");
};
syncBuiltinESMExports();
