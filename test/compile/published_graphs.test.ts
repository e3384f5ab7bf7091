import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compile, writtenDag } from "../../src/compile.ts";
import { printDag } from "../../src/dag/print.ts";
import { FormulaError } from "../../src/errors.ts";
import type { DialectName } from "../../src/operator/definition.ts";

/** Digests of the graphs that the published formulas stand for, before any pass: a name that changes its meaning changes one. */
const SETS: readonly (readonly [set: string, dialect: DialectName, formulas: string, example: string])[] = [
  ["alpha101", "alpha101", "a91d27cf8a5b66eb", "31e8eacab3485933"],
  ["alpha158", "qlib", "e4339063f7f9db91", "c6fddc67d1d0b2eb"],
  ["alpha360", "qlib", "86313d9c454f618a", "15bb80f65410ac7d"],
  ["gtja191", "gtja191", "b094e5ad0c0fdbbc", "3ac52e81214558ac"],
];

describe.each(SETS)("%s", (set, dialect, formulas, example) => {
  test("each published formula by itself has the graph that it had", () => {
    const lines = textOf(`../formulas/${set}.txt`).split("\n");
    expect(digestOf(lines.map((line) => graphOf(line, dialect)))).toBe(formulas);
  });

  test("so has the example with all of them", () => {
    expect(digestOf([printDag(writtenDag(compile(textOf(`../../examples/${set}.factors`))))])).toBe(example);
  });
});

/** Some published lines are invalid: then the text of the errors. */
function graphOf(line: string, dialect: DialectName): string {
  try {
    return printDag(writtenDag(compile(line, { dialect })));
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return error.diagnostics.map(({ code }) => code).join(" ");
  }
}

function textOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

function digestOf(texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 16);
}
