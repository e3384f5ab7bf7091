import { compile } from "../../src/compile.ts";

/** The fields that a formula reads, as the panel calls them. */
export function fieldsOf(formula: string, fields: readonly string[], dialect = "native"): string[] {
  const { bound } = compile(`f = ${formula}`, { fields, dialect }).written;
  const found: string[] = [];
  const pending = bound.factors.map(({ expression }) => expression);
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.kind === "field") found.push(node.name);
    if (node.kind === "call") pending.push(...node.args.toReversed());
  }
  return found;
}
