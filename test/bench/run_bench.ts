import { fileURLToPath } from "node:url";
import { type CliResult, runCli } from "../cli/run_cli.ts";

const MAIN = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));

/** As `runCli`, for `npm run bench`. */
export function runBench(
  args: readonly string[],
  files?: Readonly<Record<string, string>>,
  output?: string,
): Promise<CliResult> {
  return runCli(args, files, output, MAIN);
}
