import { readFileSync } from "node:fs";
import { median } from "../src/bench/result.ts";
import { compile } from "../src/index.ts";

/**
 * From text to graph: the four published sets, and generated files of three sizes, whose time and memory should grow
 * with their size. Prints JSON; `node --expose-gc` makes the memory figures steadier.
 *
 * Usage: npm run bench:compile
 */
const SETS = [
  ["alpha101", "alpha101"],
  ["alpha158", "qlib"],
  ["alpha360", "qlib"],
  ["gtja191", "gtja191"],
] as const;
const SIZES = [1_000, 3_000, 10_000];
const RUNS = 9;

const fromRoot = (path: string) => new URL(`../${path}`, import.meta.url).pathname;
const texts = SETS.map(([set, dialect]) => {
  return { set, dialect, text: readFileSync(fromRoot(`examples/${set}.factors`), "utf8") };
});

function timeMs(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** Every published set, one after the other. */
function compileSets(): number {
  return texts.reduce((count, { text, dialect }) => count + compile(text, { dialect }).factors.length, 0);
}

/** `count` different formulas: those of alpha101 with windows made longer, each round by one row. */
function generate(count: number): string {
  const lines = (texts[0]?.text ?? "").split("\n").filter((line) => line.startsWith("alpha"));
  const formulas = Array.from({ length: count }, (_, i) => {
    const longer = Math.floor(i / lines.length);
    const body = (lines[i % lines.length] as string).slice("alpha001 = ".length);
    return `f${i} = ${body.replace(/, (\d+)(\.\d+)?\)/g, (_match, rows) => `, ${Number(rows) + longer})`)}`;
  });
  return `dialect alpha101\nlet vwap = (high + low + close) / 3\nlet cap = adv60\n${formulas.join("\n")}`;
}

const factorCount = compileSets();
const setsMs = Array.from({ length: RUNS }, () => timeMs(compileSets));
const sizes = SIZES.map((count) => {
  const text = generate(count);
  const ms = median(Array.from({ length: 3 }, () => timeMs(() => compile(text))));
  return {
    formulas: count,
    textBytes: text.length,
    ms,
    usPerFormula: (1000 * ms) / count,
    rssBytes: process.memoryUsage().rss,
  };
});
process.stdout.write(
  `${JSON.stringify({ publishedFormulas: factorCount, publishedMs: median(setsMs), sizes }, null, 2)}\n`,
);
