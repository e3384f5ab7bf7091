import { DIALECTS } from "../../grammar/dialects.ts";
import { parseFormulas } from "../../grammar/parse.ts";
import { type Syntax, syntaxBelow } from "../../grammar/syntax.ts";
import { UsageError } from "../errors.ts";
import type { Operator, RewriteOperator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import { renderDiagnostics, Source } from "../text/source.ts";
import { usedFirst } from "./use_order.ts";

/** The formula of a rewrite or of one side of a law, or the problem with its text. */
export function parseRewrite({
  name,
  formula,
}: Pick<RewriteOperator, "name" | "formula">): Syntax | { readonly problem: string } {
  const { statements, diagnostics } = parseFormulas(
    new Source(name, `formula = ${formula}`),
    DIALECTS.native,
  );
  const [statement] = statements;
  if (diagnostics.length > 0) return { problem: renderDiagnostics(diagnostics) };
  if (statement?.kind !== "factor" || statement.condition || statements.length > 1) {
    return { problem: "it is not a single expression" };
  }
  return statement.expression;
}

/**
 * Checks the rewrites that a caller adds: their meaning must not depend on the file that uses them.
 *
 * @throws UsageError E549 if a formula cannot be read, uses more than its parameters and operators, or itself.
 */
export function checkRewrites(operators: readonly Operator[], registry: Registry): void {
  const rewrites = operators.filter((operator) => operator.axis === "rewrite");
  const uses = new Map(rewrites.map((operator) => [operator, rewritesIn(operator, registry)]));
  usedFirst(
    rewrites,
    (operator) => uses.get(operator) ?? [],
    (cycle) => {
      const [first] = cycle as readonly [RewriteOperator];
      const names = [...cycle, first].map(({ name }) => name);
      throw rewriteError(first, `its formula uses itself: ${names.join(" -> ")}`, "use other operators only");
    },
  );
}

/** The rewrites that a rewrite's formula calls. @throws UsageError E549 if it uses anything from outside. */
function rewritesIn(operator: RewriteOperator, registry: Registry): Iterable<RewriteOperator> {
  const root = parseRewrite(operator);
  if ("problem" in root) {
    const remedy = "write one expression in dialect native, e.g. x - delay(x, d)";
    throw rewriteError(operator, `its formula cannot be read: ${root.problem}`, remedy);
  }
  const parameters = new Set(operator.parameters.map(({ name }) => name.toLowerCase()));
  const found = new Set<RewriteOperator>();
  for (const item of syntaxBelow(root)) {
    if (item.kind === "name" && !parameters.has(item.name.toLowerCase())) {
      const remedy = `make ${item.name} a parameter: a formula uses only the names of its parameters`;
      throw rewriteError(
        operator,
        `its formula uses ${item.name}, which is not one of its parameters`,
        remedy,
      );
    }
    if (item.kind !== "call") continue;
    const called = registry.findCalled(item, "native");
    if (!called) {
      const remedy = "use built-in operators, or pass that operator to compile as well";
      throw rewriteError(operator, `its formula uses ${item.name}, which is not an operator`, remedy);
    }
    if (called.axis === "rewrite") found.add(called);
  }
  return found;
}

function rewriteError({ name }: RewriteOperator, problem: string, remedy: string): UsageError {
  return new UsageError("E549", `operator ${name}: ${problem}`, remedy);
}
