import { expect, test } from "vitest";
import { hasDask } from "../../support/needs.ts";
import { printed } from "../support/python_script.ts";

/** Prints the faults that come from these through Dask, which cuts off the text of an exception. */
const SCRIPT = `
import json
from distributed.core import truncate_exception
from task_faults import fault, fault_in

for record in json.loads(sys.argv[1]):
    print(json.dumps(fault_in(truncate_exception(fault(record)))))
`;

const long = (letter: string) => `first${letter.repeat(10_000)}last`;

test.runIf(await hasDask())("a fault of any length arrives, with the ends of its texts", async () => {
  const short = { errorClass: "data", code: "E302", problem: "p".repeat(9000), remedy: "r" };
  const faults = [
    short,
    { ...short, problem: long("x"), remedy: long("\u{1f600}") },
    { error: "executorLost", args: ["('task', 1)", 7, long('"')] },
  ];
  const cut = expect.stringMatching(/^first.{100,} \.\.\. .{100,}last$/u);
  expect((await printed(SCRIPT, JSON.stringify(faults))).map((line) => JSON.parse(line))).toEqual([
    short,
    { ...short, problem: cut, remedy: cut },
    { error: "executorLost", args: ["('task', 1)", 7, cut] },
  ]);
});
