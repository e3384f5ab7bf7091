import { describe, expect, test } from "vitest";
import type { BudgetCell } from "../../../src/bench/budget/cell.ts";
import { limitsOf } from "../../../src/bench/budget/limit.ts";
import { budgetPage } from "../../../src/bench/budget/page/page.ts";
import { madeUpCell, madeUpResult } from "./made_up_cells.ts";
import { parseMarkup } from "./markup.ts";

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

describe("the page", () => {
  const cells = cellsOf([512, 4096, 5000], [1, 2]);
  const page = budgetPage(madeUpResult(cells));
  const elements = parseMarkup(page);

  test("is whole, has every chart and loads nothing", () => {
    const charts = elements.filter(({ name }) => name === "svg");
    expect(charts.map(({ attributes }) => /aria-label="([^"]*)"/.exec(attributes)?.[1])).toEqual([
      "Latency of one call (one row)",
      "How many formulas fit into 100 ms",
      "Where the time of a call goes",
      "Scaling by threads (median call, against 1 thread)",
    ]);
    expect(elements.filter(({ name }) => /^(script|link|img|iframe)$/.test(name))).toEqual([]);
    expect(page).not.toMatch(/(?:href|src)=|url\(|@import/);
    expect(page).toContain("a &lt;processor&gt; &amp; more, 2 cores, 16.0 GiB");
  });

  test("has a row of figures for each cell, those beyond the budget told apart", () => {
    const rows = page.split("\n").filter((row) => row.startsWith("<tr"));
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
    const titles = [...page.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title!);
    expect(titles.filter((title) => /: p99 [\d.,]+ ms$/.test(title) && title.includes("lanes"))).toHaveLength(
      // Once among the latencies; those of parts of `all` once more.
      cells.length + cells.filter(({ formulas }) => formulas.startsWith("all")).length,
    );
    expect(titles.filter((title) => /^rows nodes .*: [\d.,]+ ms, 25 %$/.test(title))).toHaveLength(
      cells.length,
    );
    expect(titles).toContain("all, 2 threads: 2 times");
    for (const label of ["wall time of a call (ms, logarithmic)", "formulas (logarithmic)", "100 ms"])
      expect(page).toContain(label);
    expect(page).not.toMatch(/NaN|Infinity|undefined|null/);
  });

  test("leaves out charts that need more: other threads, parts of `all`", () => {
    const only = budgetPage(
      madeUpResult(cells.filter(({ formulas, threads }) => formulas === "alpha101" && threads === 1)),
    );
    expect(parseMarkup(only).filter(({ name }) => name === "svg")).toHaveLength(2);
    const slow = cells.filter(({ formulas, lanes, threads }) => {
      return formulas === "all" && lanes === 5000 && threads === 1;
    });
    expect(parseMarkup(budgetPage(madeUpResult(slow))).filter(({ name }) => name === "svg")).toHaveLength(3);
  });
});
