import { type CompileOptions, compile, writtenDag } from "../../src/compile.ts";
import { printDag } from "../../src/dag/print.ts";
import { type Diagnostic, FormulaError } from "../../src/errors.ts";

/** The error of a text; undefined if it is accepted. */
export function refusal(text: string, options: CompileOptions = {}): FormulaError | undefined {
  try {
    compile(text, { file: "a.factors", ...options });
    return undefined;
  } catch (error) {
    if (error instanceof FormulaError) return error;
    throw error;
  }
}

/** The message with which a text is refused. */
export function rendered(text: string, options: CompileOptions = {}): string {
  return refusal(text, options)?.message ?? "no mistake";
}

/** Its mistakes as `CODE line:column message`. */
export function mistakes(text: string, options: CompileOptions = {}): string[] {
  return diagnostics(text, options).map(
    ({ code, line, column, message }) => `${code} ${line}:${column} ${message}`,
  );
}

/** The remedies of its mistakes. */
export function remedies(text: string, options: CompileOptions = {}): string[] {
  return diagnostics(text, options).map(({ remedy }) => remedy);
}

function diagnostics(text: string, options: CompileOptions): readonly Diagnostic[] {
  return refusal(text, options)?.diagnostics ?? [];
}

/** The graph of a text without mistakes, before any pass. */
export function graph(text: string, options: CompileOptions = {}): string {
  return printDag(writtenDag(compile(text, options)));
}
