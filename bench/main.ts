/** `npm run bench -- NAME`: all that `factorloom bench` measures, and what only a checkout can. */
import { Command } from "commander";
import { addBench } from "../src/cli/bench/bench.ts";
import { countTo } from "../src/cli/terminal/option_values.ts";
import { prepare, runProgram } from "../src/cli/terminal/run_program.ts";
import { packageVersion } from "../src/files/package_version.ts";
import { addClusterBench } from "./commands/cluster.ts";
import { addDay } from "./commands/day.ts";
import { addJobs } from "./commands/jobs.ts";
import { addOutput } from "./commands/output.ts";
import { addPeers } from "./commands/peers.ts";
import { addScheduleBenches } from "./commands/schedule.ts";
import { addSimulate } from "./commands/simulate.ts";
import { addSizes } from "./commands/sizes.ts";

const program = prepare(new Command("npm run").version(packageVersion()));
const bench = addBench(program).usage("-- [options] [command] [name]");
const ADDED = [
  addScheduleBenches,
  addPeers,
  addSimulate,
  addSizes,
  addDay,
  addJobs,
  addOutput,
  addClusterBench,
];
for (const add of ADDED) add(bench, countTo());
await runProgram(program, [bench.name(), ...process.argv.slice(2)]);
