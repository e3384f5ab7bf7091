import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileFolder } from "../support/file_folder.ts";
import { CliHost } from "./cli_host.ts";
import { withoutSignsOfLife } from "./signs_of_life.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
/** Two calls may run at a time. */
const HOSTS = 2;
const hosts: CliHost[] = [];
let calls = 0;

export interface CliResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Without signs of life, which depend on time; with `<folder>` for the folder of the call. */
  readonly stderr: string;
  /** Content of the output file that the call was asked for. */
  readonly written?: string;
}

/** Bars of three days for two symbols. */
export const BARS = `date,symbol,open,close,volume
2020-01-01,A,1,2,100
2020-01-01,B,3,4,200
2020-01-02,A,2,3,110
2020-01-02,B,4,3,190
2020-01-03,A,3,5,120
2020-01-03,B,3,2,210
`;

/** Runs the built command line in a folder of its own that holds these files; reads the file that it is to write. */
export async function runCli(
  args: readonly string[],
  files: Readonly<Record<string, string | Uint8Array>> = {},
  output?: string,
  encoding: BufferEncoding = "utf8",
): Promise<CliResult> {
  const folder = folderWith(files);
  const place = calls++ % HOSTS;
  const host = hosts[place] ?? new CliHost();
  hosts[place] = host;
  return resultOf(folder, await host.run({ args, folder }), output, encoding);
}

/** The same in a process of its own, for what is about one, or about another program. */
export async function runCliProcess(
  args: readonly string[],
  files: Readonly<Record<string, string | Uint8Array>> = {},
  output?: string,
  main = MAIN,
): Promise<CliResult> {
  const folder = folderWith(files);
  return await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [main, ...args],
      { cwd: folder, maxBuffer: 2 ** 28, encoding: "utf8" },
      (_, stdout, stderr) => resolve(resultOf(folder, { exitCode: child.exitCode, stdout, stderr }, output)),
    );
  });
}

function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(fileFolder(), "call-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

function resultOf(
  folder: string,
  said: CliResult,
  output?: string,
  encoding: BufferEncoding = "utf8",
): CliResult {
  const result = { ...said, stderr: withoutSignsOfLife(said.stderr).replaceAll(folder, "<folder>") };
  const path = output === undefined ? "" : join(folder, output);
  return existsSync(path) ? { ...result, written: readFileSync(path, encoding) } : result;
}

/** Runs all of a list, two at a time; the results are in the order of the list. */
export async function runTwoAtATime<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [i, item] of queue) results[i] = await work(item);
  };
  await Promise.all([worker(), worker()]);
  return results;
}
