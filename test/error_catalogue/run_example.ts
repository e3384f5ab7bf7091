import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile, compileStrictly } from "../../src/compile.ts";
import {
  type CommandExample,
  type ErrorExample,
  EXAMPLE_FILES,
  EXAMPLE_PRELUDE,
  type FormulaExample,
  type LibraryExample,
  type Situation,
} from "../../src/error_catalogue/entry.ts";
import { FactorloomError } from "../../src/errors.ts";
import * as library from "../../src/index.ts";
import { renderDiagnostic } from "../../src/text/source.ts";
import { CliHost } from "../cli/cli_host.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

export type RunnableExample = Exclude<ErrorExample, Situation>;

/** What an example gives: the error, where it was caught as one, and the lines that a reader sees. */
export interface Seen {
  readonly error: FactorloomError | null;
  readonly lines: readonly string[];
}

/** Runs the example of a code in a folder of its own. */
export async function runExample(code: string, example: RunnableExample): Promise<Seen> {
  if ("formula" in example) return runFormula(example);
  return await inFolder(example.files ?? {}, async (folder) => {
    if ("program" in example) return await runProgram(example, folder);
    return { error: null, lines: linesFrom(code, await runCommands(example, folder)) };
  });
}

/** The output from where the code stands. */
function linesFrom(code: string, output: string): string[] {
  const start = output.indexOf(code);
  return output.slice(Math.max(0, start)).trimEnd().split("\n");
}

function runFormula({ formula }: FormulaExample): Seen {
  const options = { file: "made.factors" };
  try {
    compile(formula, options);
  } catch (error) {
    return seen(error);
  }
  const { suspicions } = compileStrictly(formula, options);
  return { error: null, lines: suspicions.map(renderDiagnostic).join("\n").split("\n") };
}

async function inFolder(
  files: Readonly<Record<string, string>>,
  run: (folder: string) => Promise<Seen>,
): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-errors-"));
  try {
    for (const [name, text] of Object.entries({ ...EXAMPLE_FILES, ...files })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const { error, lines } = await run(folder);
    return { error, lines: lines.map((line) => line.replaceAll(`${folder}/`, "")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the last command prints. */
async function runCommands({ commands }: CommandExample, folder: string): Promise<string> {
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

async function runProgram({ program }: LibraryExample, folder: string): Promise<Seen> {
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
