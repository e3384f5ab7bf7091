import { mkdirSync, writeFileSync } from "node:fs";
import { grammarPage } from "./grammar_page.ts";
import { railroadDiagrams } from "./railroad.ts";

/** Every generated page of the documentation by its path below docs/. */
export function generatedPages(): Map<string, string> {
  const pages = new Map([["grammar.md", grammarPage()]]);
  for (const { name, svg } of railroadDiagrams()) pages.set(`railroad/${name}.svg`, svg);
  return pages;
}

if (import.meta.main) {
  mkdirSync(new URL("railroad/", import.meta.url), { recursive: true });
  for (const [path, text] of generatedPages()) writeFileSync(new URL(path, import.meta.url), text);
}
