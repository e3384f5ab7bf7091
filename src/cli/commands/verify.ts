import type { Command } from "commander";
import type { Program } from "../../compile.ts";
import { EXIT_CODES } from "../../errors.ts";
import { addFlags, type Flags } from "../opening/option_flags.ts";
import { formulasOfFile, withProgram } from "../opening/with_program.ts";
import { print } from "../terminal/terminal.ts";
import { verifySummary, verifyText } from "./verify_summary.ts";

interface VerifyFlags extends Flags {
  readonly data: string;
  readonly json?: true;
}

export function addVerify(program: Command): void {
  const command = program
    .command("verify")
    .description("prove on these bars that nothing but formulas and data decides a bit of the factors")
    .argument("<file>", "formula file")
    .requiredOption("--data <path>", "bars, as for eval");
  addFlags(command, "factorloom verify").option("--json", "print the result as JSON").action(verifyFile);
}

/** Verifies a formula file over a table of bars, prints the result and sets the exit code: 1 for a broken promise. */
async function verifyFile(file: string, flags: VerifyFlags): Promise<void> {
  const formulas = await formulasOfFile(file);
  await withProgram("factorloom verify", formulas, flags, async (opened) => {
    const { program, source, specs, steps } = opened;
    const { verify } = await import("../../verify/verify.ts");
    const programs = new Map<string, Program>([["", program]]);
    const programWithout = (passes: readonly string[]): Program => {
      const key = passes.join();
      const found = programs.get(key) ?? opened.compile(formulas, { disabledPasses: [...passes] });
      programs.set(key, found);
      return found;
    };
    const { threads, memoryLimit: memoryLimitBytes } = specs.engine;
    const { onProgress: _, ...call } = opened.callOf(program);
    const verification = await steps.run("verify", () =>
      verify(
        { programWithout, source },
        {
          ...call,
          ...(threads === undefined ? {} : { threads }),
          ...(memoryLimitBytes === undefined ? {} : { memoryLimitBytes }),
          onProgress: (what, share) => steps.show(share, what),
        },
      ),
    );
    const summary = verifySummary(program, verification, steps.times);
    print(flags.json ? JSON.stringify(summary) : verifyText(summary));
    if (!verification.holds) process.exitCode = EXIT_CODES.input;
  });
}
