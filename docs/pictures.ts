/** Makes the pictures of pages that documents show: `npm run pictures`. Needs Chromium, which `npm test` installs, and `npm run build`. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { compile } from "../src/compile.ts";
import { explainPage } from "../src/pages/explain/explain_page.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FORMULAS = "examples/alpha101.factors";
const BARS = ["--data", "examples/data/sp100_daily.csv.gz", "--groups", "examples/data/sp100_sectors.csv"];
/** The file of the page and the part of its address, by name of the picture. */
const VIEWS = {
  explain: ["explain.html", "#factor/10"],
  explain_shared: ["explain.html", ""],
  report: ["run.html", ""],
  report_time: ["run.html", "#time"],
} as const;

const folder = mkdtempSync(join(tmpdir(), "factorloom-pictures-"));
const program = compile(readFileSync(join(ROOT, FORMULAS), "utf8"), { file: "alpha101.factors" });
writeFileSync(join(folder, "explain.html"), explainPage(program));
const command = ["dist/src/cli/main.js", "eval", FORMULAS, ...BARS, "--report", join(folder, "run.html")];
execFileSync(process.execPath, command, { cwd: ROOT, stdio: "ignore" });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const colorScheme of ["light", "dark"] as const)
    for (const [name, [file, view]] of Object.entries(VIEWS)) {
      const page = await browser.newPage({ viewport: { width: 1320, height: 940 }, colorScheme });
      await page.goto(`${pathToFileURL(join(folder, file)).href}${view}`);
      await page.waitForSelector("h1");
      await page.screenshot({ path: fileURLToPath(new URL(`${name}_${colorScheme}.png`, import.meta.url)) });
    }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
