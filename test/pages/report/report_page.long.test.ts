import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportPage } from "../../../src/pages/report/report_page.ts";
import { hasChromium } from "../../support/needs.ts";
import { PageViewer, violationsOf } from "../chromium.ts";
import { madeUpRun } from "./made_up_run.ts";

const ROOT = join(import.meta.dirname, "../../..");
const VIEWS = ["", "#time", "#factor/0", "#factor/95"];
const WIDTHS = [390, 1280, 2560];
const SCHEMES = ["light", "dark"] as const;

/** The page of the 101 formulas over the bundled bars. */
function alpha101Page(): string {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-report-"));
  try {
    const path = join(folder, "run.html");
    const data = (name: string) => join(ROOT, "examples/data", name);
    const bars = ["--data", data("sp100_daily.csv.gz"), "--groups", data("sp100_sectors.csv")];
    const command = [join(ROOT, "dist/src/cli/main.js"), "eval", join(ROOT, "examples/alpha101.factors")];
    execFileSync(process.execPath, [...command, ...bars, "--report", path], { stdio: "ignore" });
    return readFileSync(path, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.runIf(await hasChromium())("the page of a run in Chromium", () => {
  let viewer: PageViewer;
  let alpha101: string;
  beforeAll(async () => {
    viewer = await PageViewer.start();
    alpha101 = alpha101Page();
  });
  afterAll(() => viewer.close());

  test("has at most 2 MB", () => expect(alpha101.length).toBeLessThan(2e6));

  test.each(
    WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ width, scheme }))),
  )("has no mistake at $width px, $scheme", async ({ width, scheme }) => {
    for (const view of VIEWS) {
      const { page, complaints, requests } = await viewer.show(alpha101, { view, width, scheme });
      for (const summary of await page.locator("summary").all()) await summary.click();
      expect(await violationsOf(page), view).toEqual([]);
      expect(complaints).toEqual([]);
      expect(requests).toHaveLength(1);
      const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(wider, "nothing makes the page scroll sideways").toBeLessThanOrEqual(0);
      await page.close();
    }
  });

  const firstCells = (page: Page) => page.locator(".sortable tbody td:first-child").allTextContents();

  test("factors are sorted by the keyboard, both ways, those without a value last", async () => {
    const { page, complaints } = await viewer.show(alpha101);
    const median = page.getByRole("button", { name: "median" });
    await median.focus();
    await page.keyboard.press("Enter");
    const column = () => page.locator(".sortable tbody td:nth-child(6)").allTextContents();
    const numbers = async () => (await column()).filter((text) => text !== "").map(Number);
    const descending = await numbers();
    expect(descending).toEqual(descending.toSorted((a, b) => b - a));
    expect((await column()).at(-1)).toBe("");
    expect(await page.locator('th[aria-sort="descending"]').textContent()).toBe("median");
    await page.keyboard.press("Enter");
    expect(await numbers()).toEqual(descending.toSorted((a, b) => a - b));
    expect((await column()).at(-1)).toBe("");
    expect(await page.locator('th[aria-sort="ascending"]').textContent()).toBe("median");
    await page.getByRole("button", { name: "factor" }).click();
    expect((await firstCells(page)).slice(0, 2)).toEqual(["alpha001", "alpha002"]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("the table is searched by name, formula and cause", async () => {
    const { page } = await viewer.show(alpha101);
    const search = page.getByRole("searchbox", { name: "Search factors, formulas, causes" });
    await search.fill("CONSTANT window");
    const found = await firstCells(page);
    expect(found).toContain("alpha096");
    expect(found.length).toBeLessThan(60);
    await search.fill("nothing like this");
    expect(await firstCells(page)).toEqual([]);
    expect(await page.locator(".tools [role=status]").textContent()).toBe("0 found");
    await page.close();
  });

  test("a factor has its histogram, its coverage and its causes; one without a value says so", async () => {
    const { page } = await viewer.show(alpha101);
    await page.keyboard.press("/");
    await page.keyboard.type("alpha019");
    await page.keyboard.press("Enter");
    await page.locator('h1:text-is("alpha019")').waitFor();
    const pictures = await page.locator('svg[role="img"]').all();
    expect(pictures).toHaveLength(2);
    expect(await page.locator("main").textContent()).toContain("too few rows");
    await page.keyboard.press("Escape");
    await page.locator("main").focus();
    await page.locator('.side a[href="#factor/95"]').click();
    await page.locator('h1:text-is("alpha096")').waitFor();
    expect(await page.locator("main").textContent()).toContain("No value is finite.");
    await page.close();
  });

  test("names run no script and become no element", async () => {
    const script = '<script>document.title = "broken"</script><img src=x onerror="document.title = 1">';
    for (const view of ["", "#time", "#factor/2"]) {
      const { page, complaints } = await viewer.show(reportPage(madeUpRun(script)), { view });
      expect(await page.title()).toBe(`${script}: a run`);
      expect(await page.locator("img, main script").count()).toBe(0);
      expect(await page.locator("main").textContent()).toContain(script);
      expect(await violationsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  test("a run without a row has a page", async () => {
    const run = madeUpRun("a", 1);
    const empty = {
      ...run,
      times: { count: 0, first: "", last: "" },
      rowCount: 0,
      coverage: { timesPerPoint: 1, times: [], rows: [] },
      factors: [{ ...run.factors[0]!, values: null, present: [] }],
      nodes: [],
      timeline: { binMs: 1, tracks: [], residentBytes: [] },
    };
    for (const view of ["", "#time", "#factor/0"]) {
      const { page, complaints } = await viewer.show(reportPage(empty), { view });
      expect(await violationsOf(page), view).toEqual([]);
      expect(complaints).toEqual([]);
      expect(await page.content()).not.toContain("NaN");
      await page.close();
    }
  });
});
