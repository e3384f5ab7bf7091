import { Command } from "commander";
import { expect, test, vi } from "vitest";
import type { AgainstLocalResult } from "../../bench/cluster/against_local.ts";
import type { ExchangeResult } from "../../bench/cluster/exchange.ts";
import { addClusterBenches } from "../../bench/commands/cluster.ts";

const EXCHANGE: ExchangeResult = {
  shards: 2,
  blocks: 3,
  mebibytes: 1,
  workers: 1,
  store: "/tiles",
  tasks: 6,
  wallMs: 51,
  taskMs: 28,
  movedBytes: 4.5 * 2 ** 20,
};
const RUN = { wallMs: 2200, ratio: 2, tasks: 4, busySeconds: 0.7, bytesRead: 2 ** 20, bytesWritten: 2 ** 21 };
const CLUSTER: AgainstLocalResult = {
  formulas: "alpha158",
  factors: 158,
  lanes: 20,
  rows: 40,
  workers: 2,
  store: "/tiles",
  localMs: 1100,
  runs: [{ cut: "stages", ...RUN }],
};
vi.mock("../../bench/cluster/exchange.ts", () => ({ measureExchange: async () => EXCHANGE }));
vi.mock("../../bench/cluster/against_local.ts", () => ({ measureAgainstLocal: async () => CLUSTER }));

async function printedBy(...args: string[]): Promise<string> {
  using write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const bench = new Command("bench");
  addClusterBenches(bench, Number);
  await bench.parseAsync(args, { from: "user" });
  return write.mock.calls.map(([text]) => text).join("");
}

test("exchange prints what was moved as text, or as JSON", async () => {
  expect(await printedBy("exchange")).toMatchInlineSnapshot(`
    "2 shards of 1 MiB into 3 blocks, 1 worker, tiles in /tiles
    6 tasks in 51 ms; executors were busy for 28 ms in all, 4.5 MiB read and written
    "
  `);
  expect(JSON.parse(await printedBy("exchange", "--json"))).toEqual(EXCHANGE);
});

test("cluster prints the runs beside the local one as text, or as JSON", async () => {
  expect(await printedBy("cluster")).toMatchInlineSnapshot(`
    "alpha158: 158 factors, 20 lanes x 40 rows, Parquet in, Parquet out
    local, 2 threads: 1.10 s; 2 workers with one executor each:

    cut     wall    of local  tasks  busy   tiles read  tiles written
    stages  2.20 s  2.00          4  0.7 s  1.0 MiB     2.0 MiB
    "
  `);
  expect(JSON.parse(await printedBy("cluster", "--json"))).toEqual(CLUSTER);
});
