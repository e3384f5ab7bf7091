import { mkdirSync, writeFileSync } from "node:fs";
import { dialectsPage } from "./dialects_page.ts";
import { languagePage } from "./language_page.ts";
import { metricsPage } from "./metrics_page.ts";
import { nullCausesPage } from "./null_causes_page.ts";
import { operatorsPage } from "./operators_page.ts";
import { optionsPage } from "./options_page.ts";
import { railroadDiagrams } from "./railroad.ts";

/** Every generated page of the documentation by its path below docs/. */
export async function generatedPages(): Promise<Map<string, string>> {
  const pages = new Map([
    ["language.md", languagePage()],
    ["operators.md", operatorsPage()],
    ["null_causes.md", nullCausesPage()],
    ["metrics.md", metricsPage()],
    ["options.md", optionsPage()],
    ["dialects.md", await dialectsPage()],
  ]);
  for (const { name, svg } of railroadDiagrams()) pages.set(`railroad/${name}.svg`, svg);
  return pages;
}

if (import.meta.main) {
  mkdirSync(new URL("railroad/", import.meta.url), { recursive: true });
  for (const [path, text] of await generatedPages()) writeFileSync(new URL(path, import.meta.url), text);
}
