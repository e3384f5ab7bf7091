import { type CompileOptions, compile, finalDag } from "../../src/compile.ts";
import { printDag } from "../../src/dag/print.ts";
import { FormulaError } from "../../src/errors.ts";

/** The message with which a text is refused; an error if it is accepted. */
export function rendered(text: string, options: CompileOptions = {}): string {
  try {
    compile(text, { file: "a.factors", ...options });
  } catch (error) {
    if (error instanceof FormulaError) return error.message;
    throw error;
  }
  throw new Error("no mistake was found");
}

/** Its mistakes as `CODE line:column message`; none if it is accepted. */
export function mistakes(text: string, options: CompileOptions = {}): string[] {
  try {
    compile(text, options);
    return [];
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return error.diagnostics.map(({ code, line, column, message }) => `${code} ${line}:${column} ${message}`);
  }
}

/** The graph of a text without mistakes. */
export function graph(text: string, options: CompileOptions = {}): string {
  return printDag(finalDag(compile(text, options)));
}
