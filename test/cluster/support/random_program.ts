import fc from "fast-check";
import { FIELDS } from "../../conformance/awkward_panels.ts";
import { randomFormulas } from "../../fuzz/random_formulas.ts";

/** Params, with their values where a call gives none. */
const PARAM_LINES = ["param p = 0.94", 'param session = "open"'];

const CONDITIONS = ['session == "open"', 'session == "close"', 'session != "open" && p > 0.5'];
const FACTORS_MAX = 6;
const DAYS_MAX = 40;

/** What a factor applies to a formula or to an earlier factor: all ways in which stages hand over series. */
type Layer = (x: string, days: number) => string;

const layers: readonly Layer[] = [
  (x) => x,
  (x) => `${x} - p`,
  (x) => `rank(${x})`,
  (x) => `demean(${x})`,
  (x) => `group_neutralize(${x}, g)`,
  (x) => `group_rank(${x}, h)`,
  (x, days) => `ts_mean(${x}, ${days})`,
  (x, days) => `ts_std_dev(${x}, ${days + 1}, min_periods=2)`,
  (x, days) => `ts_rank(rank(${x}), ${days})`,
  (x, days) => `rank(ts_argmax(${x}, ${days}))`,
  (x, days) => `correlation(${x}, rank(y), ${days + 1})`,
  (x, days) => `decay_linear(delta(zscore(${x}), 2), ${days})`,
  (x, days) => `delay(${x}, ${days})`,
];
const recursiveLayers: readonly Layer[] = [
  (x, days) => `ema(${x}, ${days})`,
  (x) => `cum_sum(rank(${x}))`,
  (x) => `scale(ffill(${x}))`,
  (x) => `trade_when(${x} > 0, z, ${x} < 0)`,
];

/** Factors that no stage computes, or one without any row before or lane beside. */
const freeFormulas = fc.constantFrom(
  ...FIELDS,
  "p",
  "2",
  "-0",
  "x + y",
  "abs(w)",
  "p * x",
  "less(x, y) ? z : v",
);

const fields = fc.constantFrom(...FIELDS);

function factorsOf(formula: fc.Arbitrary<string>, layer: fc.Arbitrary<Layer>) {
  const layered = fc.record({
    formula,
    /** Which of the factors before takes the place of the formula. */
    earlier: fc.option(fc.nat(FACTORS_MAX), { freq: 2 }),
    layer,
    days: fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: DAYS_MAX })),
  });
  return fc.record({
    body: fc.oneof({ weight: 4, arbitrary: layered }, freeFormulas),
    condition: fc.oneof(
      { withCrossShrink: true },
      { weight: 3, arbitrary: fc.constant(null) },
      fc.constantFrom(...CONDITIONS),
    ),
  });
}
type Factor = ReturnType<typeof factorsOf> extends fc.Arbitrary<infer T> ? T : never;

/** Factors with a limited lookback, which can run in independent slabs. */
const boundedFactors = factorsOf(fields, fc.constantFrom(...layers));
const anyFactors = factorsOf(
  fc.oneof(fields, randomFormulas),
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...layers) }, fc.constantFrom(...recursiveLayers)),
);

/** Texts of programs of up to six factors `f0`, `f1`, ... on the fields and groups of the awkward panels. */
export const randomPrograms: fc.Arbitrary<string> = fc
  .oneof(...[boundedFactors, anyFactors].map(programsOf))
  .map((drawn) => [...PARAM_LINES, ...linesOf(drawn)].join("\n"));

function programsOf(factor: fc.Arbitrary<Factor>): fc.Arbitrary<Factor[]> {
  return fc.array(factor, { minLength: 1, maxLength: FACTORS_MAX, size: "max" });
}

function linesOf(drawn: readonly Factor[]): string[] {
  const usable: string[] = [];
  return drawn.map(({ body, condition }, i) => {
    const line = `f${i} = ${textOf(body, usable)}`;
    if (condition !== null) return `when ${condition} { ${line} }`;
    usable.push(`f${i}`);
    return line;
  });
}

function textOf(body: Factor["body"], usable: readonly string[]): string {
  if (typeof body === "string") return body;
  const { formula, earlier, layer, days } = body;
  const hasEarlier = earlier !== null && usable.length > 0;
  return layer(hasEarlier ? usable[earlier % usable.length]! : formula, days);
}
