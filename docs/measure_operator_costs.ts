import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { calibrate } from "../src/bench/calibrate.ts";
import type { Calibration } from "../src/evaluation/stored_costs.ts";

/** Calibrations that are run; of each figure the least counts, for other programs only ever add time. */
const RUNS = 5;

/** ns per cell by the rows of the window; one point for operators without a window. */
export type CompiledCost = readonly { readonly windowRows: number; readonly nsPerCell: number }[];

/** What docs/operator_costs.json holds. */
export interface CompiledCosts {
  readonly command: string;
  readonly machine: string;
  readonly node: string;
  /** The day in ISO 8601. */
  readonly measuredOn: string;
  readonly runs: number;
  readonly lanes: number;
  /** By the names of operators that have code. */
  readonly operators: Readonly<Record<string, CompiledCost>>;
}

/** Measures what the compiled code of every operator costs on this machine, for the operator reference. */
async function measureOperatorCosts(): Promise<CompiledCosts> {
  const calibrations: Calibration[] = [];
  for (let run = 0; run < RUNS; run++) calibrations.push(await calibrate());
  const [first] = calibrations;
  const operators = Object.entries(first!.operators).map(([name, points]) => {
    const least = points.map(({ windowRows }, index) => ({
      windowRows,
      nsPerCell: Math.min(...calibrations.map((each) => each.operators[name]![index]!.nsPerCell)),
    }));
    return [name, least] as const;
  });
  return {
    command: "node docs/measure_operator_costs.ts",
    machine: `${cpus().length} virtual cores of ${cpus()[0]?.model.trim() ?? "an unknown processor"}`,
    node: process.version,
    measuredOn: new Date().toISOString().slice(0, 10),
    runs: RUNS,
    lanes: first!.lanes,
    operators: Object.fromEntries(operators.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

if (import.meta.main) {
  const costs = await measureOperatorCosts();
  writeFileSync(new URL("operator_costs.json", import.meta.url), `${JSON.stringify(costs, null, 1)}\n`);
}
