/** Makes the pictures of pages that documents show: `npm run pictures`. Needs Chromium (`.ci/install_chromium`). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { compile } from "../src/compile.ts";
import { explainPage } from "../src/pages/explain/explain_page.ts";

const FORMULAS = fileURLToPath(new URL("../examples/alpha101.factors", import.meta.url));
/** The page's addresses of what is shown, by name of the picture. */
const VIEWS = { explain: "#factor/10", explain_shared: "" };

const folder = mkdtempSync(join(tmpdir(), "factorloom-pictures-"));
const path = join(folder, "page.html");
writeFileSync(path, explainPage(compile(readFileSync(FORMULAS, "utf8"), { file: "alpha101.factors" })));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const colorScheme of ["light", "dark"] as const)
    for (const [name, view] of Object.entries(VIEWS)) {
      const page = await browser.newPage({ viewport: { width: 1320, height: 940 }, colorScheme });
      await page.goto(`${pathToFileURL(path).href}${view}`);
      await page.waitForSelector("h1");
      await page.screenshot({ path: fileURLToPath(new URL(`${name}_${colorScheme}.png`, import.meta.url)) });
    }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
