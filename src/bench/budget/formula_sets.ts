import type { Dag } from "../../dag/dag.ts";
import { pruneDag } from "../../dag/prune.ts";
import { UsageError } from "../../errors.ts";
import { suggestion } from "../../text/suggest.ts";
import { publishedDag } from "../open_formulas.ts";

const PUBLISHED = ["alpha101", "alpha158", "alpha360", "gtja191"];

/** The published sets, and all of them evaluated together. */
const SETS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(PUBLISHED.map((name) => [name, [name]])),
  all: PUBLISHED,
};

/** What `bench budget` measures by default; the parts of `all` show how many formulas fit. */
export const FORMULA_SETS_DEFAULT = [
  "alpha101",
  "alpha158",
  "gtja191",
  "all:100",
  "all:200",
  "all:400",
  "all",
];

/** Formulas that are evaluated together. */
export interface FormulaSet {
  /** `all`, or `all:200` for 200 of them. */
  readonly name: string;
  readonly base: string;
  /** Null: every formula. */
  readonly count: number | null;
}

/** @throws UsageError E506 for a name that is neither a set nor a set with a number. */
export function formulaSet(name: string): FormulaSet {
  const [, base = name, count] = /^([a-z0-9]+):([1-9]\d{0,5})$/.exec(name) ?? [];
  if (SETS[base]) return { name, base, count: count === undefined ? null : Number(count) };
  const names = Object.keys(SETS);
  const known = `there are ${names.join(", ")}, and parts of them such as all:200`;
  throw noSuchSet(name, suggestion(base, names, known));
}

/**
 * The graph of a set: equal expressions are one task, also across files. Fewer than all formulas are spread evenly over
 * the files, so that a part of a set is as mixed as the whole.
 *
 * @throws UsageError E506 if the set has fewer formulas.
 */
export function graphOf({ name, base, count }: FormulaSet): Dag {
  const dag = publishedDag(SETS[base]!);
  const total = dag.outputs.length;
  if (count === null) return dag;
  if (count > total) throw noSuchSet(name, `${base} has ${total} formulas`);
  const before = (index: number) => Math.floor((index * count) / total);
  return pruneDag(dag, (_, index) => before(index + 1) > before(index));
}

function noSuchSet(name: string, remedy: string): UsageError {
  return new UsageError("E506", `no formula set ${name}`, remedy);
}
