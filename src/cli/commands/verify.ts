import type { Command } from "commander";
import { compile, type Program } from "../../compile.ts";
import { EXIT_CODES } from "../../errors.ts";
import type { Operator } from "../../operator/definition.ts";
import {
  type CallOptions,
  compileOptions,
  pick,
  sourceOptions,
  typedParams,
  warnOfIdleUniverse,
} from "../eval/call_options.ts";
import { addCallOptions } from "../eval/eval.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { print } from "../terminal/terminal.ts";
import { Steps } from "../trace/steps.ts";
import { verifySummary, verifyText } from "./verify_summary.ts";

interface VerifyFileOptions extends CallOptions {
  readonly json?: true;
}

export function addVerify(program: Command): void {
  const command = program
    .command("verify")
    .description("prove on these bars that nothing but formulas and data decides a bit of the factors")
    .argument("<file>", "formula file");
  addCallOptions(command)
    .option("--json", "print the result as JSON")
    .action((file: string, options: VerifyFileOptions) => verifyFile(file, options));
}

/** Loaded here, so that other commands start faster: see `loadEngine` of `eval`. */
async function loadModules() {
  const [{ default: ora }, input, { verify }] = await Promise.all([
    import("ora"),
    import("../../data/source/open_panel_source.ts"),
    import("../../verify/verify.ts"),
  ]);
  return { ora, ...input, verify };
}

/** Verifies a formula file over a table of bars, prints the result and sets the exit code: 1 for a broken promise. */
export async function verifyFile(
  file: string,
  options: VerifyFileOptions,
  operators: readonly Operator[] = [],
): Promise<void> {
  const text = await readFormulaFile(file);
  const modules = await loadModules();
  const steps = new Steps(modules.ora);
  const source = await steps.run("read", () => modules.openPanelSource(options.data, sourceOptions(options)));
  try {
    const programs = new Map<string, Program>();
    const programWithout = (passes: readonly string[]): Program => {
      const key = passes.join();
      const known = programs.get(key);
      const disabledPasses = [...passes];
      const program =
        known ?? compile(text, { ...compileOptions(file, source, options), operators, disabledPasses });
      programs.set(key, program);
      return program;
    };
    const program = programWithout([]);
    warnOfIdleUniverse(program, options.universe);
    const verification = await steps.run("verify", () =>
      modules.verify(
        { programWithout, source },
        {
          ...pick(options, ["select", "from", "to", "paramsByTime", "threads"]),
          params: typedParams(program, options.param ?? {}),
          ...(options.memoryLimit === undefined ? {} : { memoryLimitBytes: options.memoryLimit }),
          onProgress: (what, share) => steps.show(share, what),
        },
      ),
    );
    const summary = verifySummary(program, verification, steps.times);
    print(options.json ? JSON.stringify(summary) : verifyText(summary));
    if (!verification.holds) process.exitCode = EXIT_CODES.input;
  } finally {
    await source.close();
  }
}
