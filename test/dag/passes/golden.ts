import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compile } from "../../../src/compile.ts";
import { printDag } from "../../../src/dag/print.ts";
import { verifyDag } from "../verify_dag.ts";

/**
 * Tests that a pass turns each text into what its golden file says: the graph before and after the pass.
 * UPDATE_GOLDEN=1 rewrites the file; read the difference.
 */
export function testGolden(pass: string, texts: readonly string[]): void {
  const file = new URL(`${pass}.golden.txt`, import.meta.url);
  const sections = texts.map((text) => sectionOf(pass, text));
  if (process.env["UPDATE_GOLDEN"]) writeFileSync(file, sections.join("\n"));
  const recorded = existsSync(file) ? readFileSync(file, "utf8").split(/\n(?=== )/) : [];
  test.each(texts.map((text, i) => [text, i] as const))("before and behind the pass: %s", (_, i) => {
    expect(sections[i]!.trimEnd(), "if this is meant, run with UPDATE_GOLDEN=1").toBe(recorded[i]?.trimEnd());
  });
  test("nothing else is on record", () => {
    expect(recorded).toHaveLength(texts.length);
  });
}

function sectionOf(pass: string, text: string): string {
  const { stages } = compile(text);
  const place = stages.findIndex(({ name }) => name === pass);
  const [before, behind] = [stages[place - 1]!, stages[place]!].map(({ dag }) => printDag(verifyDag(dag)));
  return `== ${text.replaceAll("\n", "\n   ")}\n${before}\n-- ${pass}\n${behind}\n`;
}
