import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { StampFile } from "../../../src/cluster/executor/stamp_file.ts";
import { hasDask } from "../../support/needs.ts";

const PYTHON = join(import.meta.dirname, "../../../src/cluster/python");

/** Prints what a watch of 10 s and 50 times the estimate says of stamps at times. */
const SCRIPT = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
from hang_watch import StampFile

stamps = StampFile()
wanted = {"seconds": 10, "timesEstimate": 50, "replaces": False}
for at, line in json.loads(sys.argv[2]):
    if line is not None:
        os.pwrite(stamps.descriptor, line.encode(), 0)
    hang = stamps.hang(wanted, at)
    print(json.dumps(None if hang is None else [hang["turn"], hang["seconds"]]))
stamps.close()
print(stamps.hang(wanted, 1e9))
`;

const stamp = (turn: number, estimatedMs: number) =>
  `${JSON.stringify({ turn, stage: 0, node: 1, operators: ["slow"], estimatedMs })}\n`;

test.runIf(await hasDask())("what takes longer than limit and estimate is reported once", async () => {
  const steps: [number, string | null][] = [
    [0, null],
    [1, stamp(1, 1)],
    [10.9, null],
    [11.1, null],
    [30, null],
    [31, "\n"],
    [32, stamp(2, 400)],
    [45, null],
    [52.1, null],
    [53, stamp(3, 1)],
    // Half a record: it is being written.
    [70, '{"turn": 4'],
    [71, stamp(4, 1)],
    [90, null],
  ];
  const { path } = await findPython();
  const { stdout } = await promisify(execFile)(path, ["-c", SCRIPT, PYTHON, JSON.stringify(steps)]);
  const answers = stdout.trimEnd().split("\n");
  expect(
    answers.map((line, index) => [steps[index]?.[0], line]).filter(([, line]) => line !== "null"),
  ).toEqual([
    [11.1, "[1, 10.1]"],
    [52.1, "[2, 20.1]"],
    [90, "[4, 19]"],
    [undefined, "None"],
  ]);
});

test("without a file nothing is stamped", () => {
  const stamps = new StampFile({});
  stamps.begin({ stage: 0, node: 0, operators: [], estimatedMs: 1 });
  stamps.end();
});
