import type { Command } from "commander";
import type { Calibration } from "../../evaluation/stored_costs.ts";
import { countTo } from "../terminal/option_values.ts";
import { withProgress } from "../terminal/progress.ts";
import { print } from "../terminal/terminal.ts";
import { formatTable } from "../terminal/text_table.ts";

interface CalibrateFlags {
  readonly lanes?: number;
  readonly out?: string;
  readonly json?: true;
}

export function addCalibrate(bench: Command): void {
  bench
    .command("calibrate")
    .description("measure what operators cost on this machine; engines then cut and order work by it")
    .option("--lanes <count>", "instruments (default: 4096)", countTo())
    .option("--out <file>", "store the costs there instead of where engines look for them")
    .option("--json", "print as JSON")
    .action(runCalibrate);
}

/** Prints what was measured even where it cannot be stored. */
async function runCalibrate({ lanes, out, json }: CalibrateFlags): Promise<void> {
  const { calibrate } = await import("../../bench/calibrate.ts");
  const { chooseCosts, storeCalibration } = await import("../../evaluation/stored_costs.ts");
  const before = await chooseCosts();
  const calibration = await withProgress("calibrate", (onProgress) => calibrate({ lanes, onProgress }));
  const replaced = before.reason ?? "this machine was calibrated before";
  print(json ? JSON.stringify({ ...calibration, replaced }) : calibrationText(calibration));
  const file = await storeCalibration(calibration, out);
  if (!json) print(`\n${replaced}; stored in ${file}`);
}

/** Operators and their costs, a line each. */
function calibrationText({ machine, node, lanes, operators }: Calibration): string {
  const rows = Object.entries(operators).map(([name, points]) => {
    const [only] = points;
    if (points.length === 1 && only) return [name, figure(only.nsPerCell)];
    return [
      name,
      points.map(({ windowRows, nsPerCell }) => `${windowRows}: ${figure(nsPerCell)}`).join("  "),
    ];
  });
  const title = `ns per cell on one thread of ${machine}, Node ${node}, ${lanes.toLocaleString("en")} lanes`;
  return `${title}\n\n${formatTable(["operator", "ns, or rows of the window: ns"], rows)}`;
}

function figure(ns: number): string {
  return String(Number(ns.toPrecision(2)));
}
