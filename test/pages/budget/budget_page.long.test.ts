import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { budgetPage } from "../../../src/pages/budget/budget_page.ts";
import { madeUpCell, madeUpResult } from "../../bench/budget/made_up_cells.ts";
import { hasChromium } from "../../support/needs.ts";
import { PageViewer, violationsOf } from "../chromium.ts";

const WIDTHS = [390, 1280, 2560];
const SCHEMES = ["light", "dark"] as const;

const cells = Object.entries({ alpha101: 101, "all:100": 100, "all:400": 400, all: 801 }).flatMap(
  ([formulas, factors]) =>
    [512, 4096, 5000].flatMap((lanes) =>
      [1, 2].map((threads) => {
        const callMs = new Array<number>(20).fill((factors * lanes) / 10_000 / threads);
        return madeUpCell({ formulas, factors, lanes, threads, callMs });
      }),
    ),
);

describe.runIf(await hasChromium())("the page of bench budget in Chromium", () => {
  let viewer: PageViewer;
  beforeAll(async () => {
    viewer = await PageViewer.start();
  });
  afterAll(() => viewer.close());

  test.each(
    WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ width, scheme }))),
  )("has no mistake at $width px, $scheme", async ({ width, scheme }) => {
    const { page, complaints, requests } = await viewer.show(budgetPage(madeUpResult(cells)), {
      width,
      scheme,
    });
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await violationsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
    expect(requests).toHaveLength(1);
    const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(wider, "nothing makes the page scroll sideways").toBeLessThanOrEqual(0);
    await page.close();
  });

  test("colours of marks follow the scheme", async () => {
    const { page } = await viewer.show(budgetPage(madeUpResult(cells)), { scheme: "light" });
    const colour = () =>
      page.evaluate("getComputedStyle(document.querySelector('svg text.limit')).fill") as Promise<string>;
    const light = await colour();
    const button = page.locator("button.scheme");
    await button.click();
    await button.click();
    expect(await button.textContent()).toBe("Colours: dark");
    expect(await colour()).not.toBe(light);
    await page.close();
  });
});
