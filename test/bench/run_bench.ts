import { fileURLToPath } from "node:url";
import { type CliResult, runCliProcess } from "../cli/run_cli.ts";

const MAIN = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));

/** As `runCliProcess`, for `npm run bench`. */
export function runBench(
  args: readonly string[],
  files?: Readonly<Record<string, string>>,
  output?: string,
): Promise<CliResult> {
  return runCliProcess(args, files, output, MAIN);
}
