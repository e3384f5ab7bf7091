import { describe, expect, test } from "vitest";
import type { BudgetCell } from "../../../src/bench/budget/cell.ts";
import { limitsOf } from "../../../src/bench/budget/limit.ts";
import { budgetPage } from "../../../src/pages/budget/budget_page.ts";
import { madeUpCell, madeUpResult } from "../../bench/budget/made_up_cells.ts";
import { markupOf, parseMarkup } from "./markup.ts";

const SETS = { alpha101: 101, "all:100": 100, "all:400": 400, all: 801 };

/** Every call takes as long: a microsecond for ten lanes of a formula on one thread. */
function cellsOf(lanes: readonly number[], threads: readonly number[]): BudgetCell[] {
  return Object.entries(SETS).flatMap(([formulas, factors]) =>
    lanes.flatMap((laneCount) =>
      threads.map((threadCount) => {
        const ms = (factors * laneCount) / 10_000 / threadCount;
        const callMs = new Array<number>(20).fill(ms);
        return madeUpCell({ formulas, factors, lanes: laneCount, threads: threadCount, callMs });
      }),
    ),
  );
}

describe("how many formulas fit", () => {
  test("lies between the cells on both sides of the budget, or beyond them", () => {
    const limits = limitsOf(cellsOf([1000, 2000, 20_000], [1, 2]), 100);
    expect(limits.map(({ threads, lanes, kind }) => [threads, lanes, kind])).toEqual([
      [1, 1000, "beyond"],
      [1, 2000, "between"],
      [1, 20_000, "below"],
      [2, 1000, "beyond"],
      [2, 2000, "beyond"],
      [2, 20_000, "between"],
    ]);
    const expected = [1000, 500, 100, 2000, 1000, 100];
    limits.forEach(({ formulas }, index) => {
      expect(formulas).toBeCloseTo(expected[index]!, 6);
    });
  });

  test("counts parts of `all` only, and the first crossing", () => {
    const [few, some, many] = [100, 200, 400].map((factors, index) => {
      const callMs = [[50], [200], [90]][index]!;
      return madeUpCell({ formulas: `all:${factors}`, factors, lanes: 64, threads: 1, callMs });
    }) as [BudgetCell, BudgetCell, BudgetCell];
    const [limit] = limitsOf([many, some, few, { ...few, formulas: "alpha101", factors: 1 }], 100);
    expect(limit!.kind).toBe("between");
    expect(limit!.formulas).toBeCloseTo(Math.sqrt(100 * 200), 6);
  });
});

const charts = (page: string) =>
  parseMarkup(page).flatMap(({ name, attributes }) =>
    name === "svg" ? [...(/role="img" aria-label="([^"]*)"/.exec(attributes)?.slice(1) ?? [])] : [],
  );

describe("the page", () => {
  const cells = cellsOf([512, 4096, 5000], [1, 2]);
  const page = budgetPage(madeUpResult(cells));
  const markup = markupOf(page);

  test("is whole, has every chart and loads nothing", () => {
    expect(charts(page)).toEqual([
      "Latency of one call (one row)",
      "How many formulas fit into 100 ms",
      "Where the time of a call goes",
      "Scaling by threads (median call, against 1 thread)",
    ]);
    expect(page).toContain("default-src 'none'");
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toMatch(/<(?:link|img|iframe)|(?:href|src)=|url\((?!#)|@import/);
    expect(markup).toContain("a &lt;processor&gt; &amp; more, 2 cores, 16.0 GiB");
  });

  test("has a row of figures for each cell, those beyond the budget marked", () => {
    const rows = markup
      .slice(markup.indexOf("All figures"))
      .split("\n")
      .filter((row) => row.startsWith("<tr"));
    expect(rows).toHaveLength(cells.length);
    expect(rows[0]).toMatch(/^<tr><td>alpha101<\/td><td>101<\/td><td>512<\/td><td>1<\/td><td>5.17<\/td>/);
    const beyond = rows.filter((row) => row.startsWith('<tr class="beyond">'));
    expect(beyond).toHaveLength(cells.filter(({ isInside }) => !isInside).length);
    for (const row of beyond) expect(row).toContain("<td>no</td>");
    expect(
      rows.every((row) => row.includes("<td>4.25 %</td><td>-1.5 %</td><td>321</td><td>1.0 MiB</td>")),
    ).toBe(true);
  });

  test("draws every percentile and every stage of every cell, with units", () => {
    const titles = [...markup.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title!);
    expect(titles.filter((title) => /: p99 [\d.,]+ ms$/.test(title) && title.includes("lanes"))).toHaveLength(
      // Once among the latencies; those of parts of `all` once more.
      cells.length + cells.filter(({ formulas }) => formulas.startsWith("all")).length,
    );
    expect(titles.filter((title) => /^rows nodes .*: [\d.,]+ ms, 25 %$/.test(title))).toHaveLength(
      cells.length,
    );
    expect(titles).toContain("all, 2 threads: 2 times");
    for (const label of ["wall time of a call (ms, logarithmic)", "formulas (logarithmic)", "100 ms"])
      expect(markup).toContain(label);
    expect(markup).not.toMatch(/NaN|Infinity|undefined|null/);
  });

  test("tells what was measured from what was extrapolated, in the picture, its legend and its table", () => {
    const limits = limitsOf(cells, 100);
    const count = (kind: string) => limits.filter((limit) => limit.kind === kind).length;
    expect(count("beyond")).toBeGreaterThan(0);
    const filled = /<rect x="[^"]*" y="[^"]*" width="8" height="8" fill="var\(--heavy\)"/g;
    const empty = /<rect x="[^"]*" y="[^"]*" width="8" height="8" fill="var\(--card\)"/g;
    // Once more in the legend.
    expect(markup.match(filled)).toHaveLength(count("between") + 1);
    expect(markup.match(empty)).toHaveLength(count("beyond") + 1);
    expect(markup.match(/<td>extrapolated<\/td>/g)).toHaveLength(count("beyond"));
    for (const label of [
      "limit between measured cells",
      "limit extrapolated: if time",
      "fits by extrapolation",
    ])
      expect(markup).toContain(label);
  });

  test("nothing that was measured is hatched: the hatching begins where formulas end", () => {
    const [all] = cellsOf([1000], [1]).filter(({ formulas }) => formulas === "all");
    const two = [all!, { ...all!, lanes: 2000 }];
    const drawn = markupOf(budgetPage(madeUpResult(two)));
    const ys = (fill: string) => {
      const path = new RegExp(`<path d="([^"]*)" fill="${fill}`).exec(drawn)![1]!;
      return path.match(/[\d.]+,([\d.]+)/g)!.map((point) => Number(point.split(",")[1]));
    };
    expect(Math.max(...ys("url"))).toBeCloseTo(Math.min(...ys("var\\(--bar\\)")), 1);
  });

  test("is made after each cell of a grid", () => {
    for (let count = 1; count <= cells.length; count++) {
      const drawn = markupOf(budgetPage(madeUpResult(cells.slice(0, count))));
      expect(drawn, `${count} cells`).not.toMatch(/NaN|Infinity|undefined|null/);
    }
  });

  test("leaves out charts that need more: other threads, parts of `all`", () => {
    const only = cells.filter(({ formulas, threads }) => formulas === "alpha101" && threads === 1);
    expect(charts(budgetPage(madeUpResult(only)))).toHaveLength(2);
    const slow = cells.filter(({ formulas, lanes, threads }) => {
      return formulas === "all" && lanes === 5000 && threads === 1;
    });
    expect(charts(budgetPage(madeUpResult(slow)))).toHaveLength(3);
  });
});
