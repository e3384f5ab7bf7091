import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile, compileStrictly } from "../../../src/compile.ts";
import { FactorloomError } from "../../../src/errors.ts";
import * as library from "../../../src/index.ts";
import { renderDiagnostic } from "../../../src/text/source.ts";
import { CliHost } from "../../cli/cli_host.ts";
import { EXAMPLE_FILES, EXAMPLE_PRELUDE, type Example } from "./example.ts";

const MAIN = fileURLToPath(new URL("../../../dist/src/cli/main.js", import.meta.url));

/** What an example gives: the error, where it was caught as one, and the lines that a reader sees. */
export interface Seen {
  readonly error: FactorloomError | null;
  readonly lines: readonly string[];
}

/** Runs an example of a code in a folder of its own. */
export async function runExample(code: string, example: Example): Promise<Seen> {
  const formulas = example.files["made.factors"];
  if (formulas !== undefined && /^factorloom check made\.factors( --strict)?$/.test(example.commands.join()))
    return runFormulas(formulas);
  return await inFolder(example.files, async (folder) => {
    if (example.program.length > 0) return await runProgram(example.program, folder);
    return { error: null, lines: linesFrom(code, await runCommands(example.commands, folder)) };
  });
}

/** The output from where the code stands. */
function linesFrom(code: string, output: string): string[] {
  const start = output.indexOf(code);
  return output.slice(Math.max(0, start)).trimEnd().split("\n");
}

/** As the command line checks them, without a process. */
function runFormulas(text: string): Seen {
  const options = { file: "made.factors" };
  try {
    compile(text, options);
  } catch (error) {
    return seen(error);
  }
  const { suspicions } = compileStrictly(text, options);
  return { error: null, lines: suspicions.map(renderDiagnostic).join("\n").split("\n") };
}

async function inFolder(files: Example["files"], run: (folder: string) => Promise<Seen>): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-errors-"));
  try {
    for (const [name, text] of Object.entries({ ...EXAMPLE_FILES, ...files })) {
      mkdirSync(name.endsWith("/") ? join(folder, name) : dirname(join(folder, name)), { recursive: true });
      if (!name.endsWith("/")) writeFileSync(join(folder, name), text);
    }
    const { error, lines } = await run(folder);
    return { error, lines: lines.map((line) => line.replaceAll(`${folder}/`, "")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the last command prints. */
async function runCommands(commands: readonly string[], folder: string): Promise<string> {
  let output = "";
  for (const command of commands) output = await runCommand(command, folder);
  return output;
}

/** Words that no shell would take for anything else. */
const PLAIN = /^factorloom( [\w./:=-]+)+$/;
const host = new CliHost();

async function runCommand(command: string, cwd: string): Promise<string> {
  if (!PLAIN.test(command)) return await runInShell(command, cwd);
  const { stdout, stderr } = await host.run({ args: command.split(" ").slice(1), folder: cwd });
  return stdout + stderr;
}

function runInShell(command: string, cwd: string): Promise<string> {
  const script = `factorloom() { "${process.execPath}" "${MAIN}" "$@"; }\n${command}`;
  return new Promise((resolve) => {
    execFile("bash", ["-c", script], { cwd }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

const AsyncFunction = (async () => {}).constructor as new (
  ...names: string[]
) => (...values: unknown[]) => Promise<void>;

async function runProgram(program: readonly string[], folder: string): Promise<Seen> {
  const lines = [...EXAMPLE_PRELUDE, ...program].join("\n");
  const run = new AsyncFunction(...Object.keys(library), lines);
  const before = process.cwd();
  process.chdir(folder);
  try {
    await run(...Object.values(library));
    return { error: null, lines: [] };
  } catch (error) {
    return seen(error);
  } finally {
    process.chdir(before);
  }
}

function seen(error: unknown): Seen {
  if (!(error instanceof FactorloomError)) throw error;
  return { error, lines: error.message.split("\n") };
}
