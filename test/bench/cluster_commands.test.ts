import { Command } from "commander";
import { expect, test, vi } from "vitest";
import type { AgainstLocalResult } from "../../bench/cluster/against_local.ts";
import { addClusterBench } from "../../bench/commands/cluster.ts";

const RUN = { wallMs: 2200, ratio: 2, tasks: 4, busySeconds: 0.7 };
const CLUSTER: AgainstLocalResult = {
  formulas: "alpha158",
  factors: 158,
  lanes: 20,
  rows: 40,
  workers: 2,
  localMs: 1100,
  resultBytes: 2 ** 20,
  runs: [
    { form: "Parquet, workers write", conversionMs: 0, ...RUN },
    { form: "CSV, workers write", conversionMs: 300, ...RUN },
  ],
};
vi.mock("../../bench/cluster/against_local.ts", () => ({ measureAgainstLocal: async () => CLUSTER }));

async function printedBy(...args: string[]): Promise<string> {
  using write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const bench = new Command("bench");
  addClusterBench(bench, Number);
  await bench.parseAsync(args, { from: "user" });
  return write.mock.calls.map(([text]) => text).join("");
}

test("cluster prints the runs beside the local one as text, or as JSON", async () => {
  expect(await printedBy("cluster")).toMatchInlineSnapshot(`
    "alpha158: 158 factors, 20 lanes x 40 rows, 1.0 MiB of results
    local, 2 threads: 1.10 s; 2 workers with one executor each:

                            conversion  wall    of local  tasks  busy
    Parquet, workers write              2.20 s  2.00          4  0.7 s
    CSV, workers write      300 ms      2.20 s  2.00          4  0.7 s
    "
  `);
  expect(JSON.parse(await printedBy("cluster", "--json"))).toEqual(CLUSTER);
});
