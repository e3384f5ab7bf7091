import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile } from "../../../src/compile.ts";
import { explainPage } from "../../../src/pages/explain/explain_page.ts";
import { hasChromium } from "../../support/needs.ts";
import { PageViewer, violationsOf } from "../chromium.ts";

const ALPHA101 = new URL("../../../examples/alpha101.factors", import.meta.url);
const VIEWS = ["", "#passes", "#factor/0", "#factor/30"];
const WIDTHS = [390, 1280, 2560];
const SCHEMES = ["light", "dark"] as const;

describe.runIf(await hasChromium())("the page of explain in Chromium", () => {
  let viewer: PageViewer;
  let alpha101: string;
  beforeAll(async () => {
    viewer = await PageViewer.start();
    alpha101 = explainPage(compile(readFileSync(ALPHA101, "utf8"), { file: "alpha101.factors" }));
  });
  afterAll(() => viewer.close());

  test.each(
    WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ width, scheme }))),
  )("has no mistake at $width px, $scheme", async ({ width, scheme }) => {
    for (const view of VIEWS) {
      const { page, complaints, requests } = await viewer.show(alpha101, { view, width, scheme });
      expect(await violationsOf(page), view).toEqual([]);
      expect(complaints).toEqual([]);
      expect(requests).toHaveLength(1);
      const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(wider, "nothing makes the page scroll sideways").toBeLessThanOrEqual(0);
      await page.close();
    }
  });

  test("shows the factor that was clicked", async () => {
    const { page } = await viewer.show(alpha101);
    await page.click('a[href="#factor/30"]');
    await page.locator('h1:text-is("alpha031")').waitFor();
    expect(await page.getAttribute('a[href="#factor/30"]', "aria-current")).toBe("page");
    await page.close();
  });

  const chosen = (page: Page) => page.locator('.box[aria-pressed="true"]').textContent();

  test("is worked by the keyboard: search, edges, passes", async () => {
    const { page, complaints } = await viewer.show(alpha101);
    await page.keyboard.press("/");
    await page.keyboard.type("ALPHA031");
    expect(await page.locator(".side li:visible").allTextContents()).toEqual([
      expect.stringMatching(/^alpha031/),
    ]);
    await page.keyboard.press("Enter");
    await page.locator('h1:text-is("alpha031")').waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator(".side li:visible").count()).toBe(101);
    await page.locator('.box[aria-pressed="true"]').focus();
    const first = await chosen(page);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await chosen(page)).toContain("rank(①)");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowRight");
    expect(await chosen(page)).toContain("sign(①)");
    await page.keyboard.press("ArrowUp");
    expect(await chosen(page)).toBe(first);
    await page.keyboard.press("]");
    await page.locator('h1:text-is("Passes of the compiler")').waitFor();
    const pass = () => page.locator('.steps [aria-pressed="true"]').textContent();
    expect(await pass()).toContain("1. share_subexpressions");
    await page.keyboard.press("]");
    expect(await pass()).toMatch(/^2\. /);
    await page.keyboard.press("[");
    expect(await pass()).toMatch(/^1\. /);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("a search that finds nothing says so", async () => {
    const { page } = await viewer.show(alpha101);
    await page.locator("#search").fill("nothing like this");
    expect(await page.getByRole("status").textContent()).toBe("No factor has this in its name or formula.");
    await page.close();
  });

  test("texts of formulas run no script and become no element", async () => {
    const script = '<script>document.title = "broken"</script><img src=x onerror="document.title = 1">';
    const text = `param s = "a"\na = rank(close) when s == "<script>alert(1)</script>" # ${script}\n`;
    const { page, complaints } = await viewer.show(explainPage(compile(text, { file: script })), {
      view: "#factor/0",
    });
    expect(await page.title()).toBe(`${script}: what it is compiled to`);
    expect(await page.locator("img, main script").count()).toBe(0);
    expect(await page.locator("main").textContent()).toContain('when s == "<script>alert(1)</script>"');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("a factor of one operator and a file that shares nothing are shown", async () => {
    const { page } = await viewer.show(explainPage(compile("a = rank(close)")));
    expect(await page.locator("main").textContent()).toContain("A single factor has nothing to share.");
    await page.locator('.side a[href="#factor/0"]').click();
    await page.waitForSelector(".box");
    expect(await page.locator(".box").count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await page.close();
  });

  test("the button overrides the system's scheme", async () => {
    const { page } = await viewer.show(alpha101, { scheme: "dark" });
    const back = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const dark = await back();
    const button = page.locator("button.scheme");
    await button.click();
    expect(await button.textContent()).toBe("Colours: light");
    expect(await back()).not.toBe(dark);
    await button.click();
    expect(await back()).toBe(dark);
    await page.close();
  });
});
