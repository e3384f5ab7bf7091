import fc from "fast-check";
import { DIALECTS } from "../../grammar/dialects.ts";
import { printExpression } from "../../src/ast/print.ts";
import { type CompileOptions, compile, type Program } from "../../src/compile.ts";
import { PASS_NAMES } from "../../src/dag/passes/order.ts";
import { Engine } from "../../src/engine.ts";
import { FormulaError } from "../../src/errors.ts";
import { NESTING_LEVELS_MAX } from "../../src/limits.ts";
import { bindFormula, treeDifference } from "../ast_print/bound_formula.ts";
import { panels, pickCells, range } from "../conformance/awkward_panels.ts";
import { type EvaluationOptions, evaluateHere } from "../conformance/evaluation.ts";
import { type Expected, expectCells } from "../conformance/same_cells.ts";
import { verifyDag } from "../dag/verify_dag.ts";
import { garbageTexts } from "./garbage_texts.ts";
import { formulaBatches, NAMES, PANEL_NAMES, randomFormulas } from "./random_formulas.ts";

/** A property over random formulas; the short run of the tests and the long run share it. */
export interface FuzzProperty {
  readonly name: string;
  /** Formulas (or texts) drawn in one run of the property, on average. */
  readonly formulasPerRun: number;
  /** @throws Error with the seed and the smallest formula found, if the property does not hold. */
  readonly check: (parameters: { seed: number; numRuns: number }) => Promise<void>;
}

const PARAMS = { p: 0.94 };
const panel = pickCells(panels.history, range(panels.history.rowCount), [1, 5, 8, 9, 12, 14, 18, 20]);
const { rowCount, laneCount } = panel;

/** Text compiles in a moment; this is a hang. */
const COMPILE_MS_MAX = 5000;

function compileBatch(formulas: readonly string[], options: CompileOptions = {}): Program {
  const lines = formulas.map((formula, i) => `f${i} = ${formula}`);
  const program = compile(`param p = ${PARAMS.p}\n${lines.join("\n")}`, { ...PANEL_NAMES, ...options });
  for (const { dag } of program.stages) verifyDag(dag);
  return program;
}

/** Binding the printed text of a formula gives the formula, and printing that gives the text. */
function checkPrinting(formula: string): void {
  const tree = bindFormula(formula, NAMES);
  const text = printExpression(tree);
  if (nestingOf(text) >= NESTING_LEVELS_MAX) return;
  const read = bindFormula(text, NAMES);
  const difference = treeDifference(read, tree);
  if (difference !== undefined) throw new Error(`${text} reads as another tree: ${difference}`);
  if (printExpression(read) !== text) throw new Error(`${text} is printed as ${printExpression(read)}`);
}

function nestingOf(text: string): number {
  let [level, most] = [0, 0];
  for (const character of text) {
    if (character === "(" || character === "?") level++;
    if (character === ")") level--;
    most = Math.max(most, level);
  }
  return most;
}

const batches = fc.record({
  formulas: formulaBatches,
  disabledPasses: fc.subarray([...PASS_NAMES]),
  start: fc.integer({ min: 1, max: 12 }),
  end: fc.integer({ min: 1, max: rowCount - 1 }),
  cut: fc.record({
    partAxis: fc.constantFrom("lanes" as const, "rows" as const),
    partCount: fc.integer({ min: 2, max: 3 }),
  }),
});
type Batch = typeof batches extends fc.Arbitrary<infer T> ? T : never;

/** However formulas are compiled, batched, cut into parts, started later or ended earlier: the bits are the same. */
function checkEvaluations({ formulas, disabledPasses, start, end, cut }: Batch): void {
  const program = compileBatch(formulas);
  const usual = evaluateHere(program, panel, { params: PARAMS });
  const expectUsual = (how: string, other: Program, options: EvaluationOptions) => {
    const columns = evaluateHere(other, panel, { params: PARAMS, ...options });
    columns.forEach((column, i) => {
      expectCells({ label: `${formulas[i]} ${how}`, column, panel }, cellsOf(usual[i]!));
    });
  };
  expectUsual("in parts", program, { cut });
  for (const disabled of [disabledPasses, PASS_NAMES]) {
    expectUsual(`without ${disabled}`, compileBatch(formulas, { disabledPasses: disabled }), {});
  }
  formulas.forEach((formula, i) => {
    const [column] = evaluateHere(compileBatch([formula]), panel, { params: PARAMS });
    expectCells({ label: `${formula} alone`, column: column!, panel }, cellsOf(usual[i]!));
  });
  checkOtherHistories(program, formulas, usual, start, end);
}

function checkOtherHistories(
  program: Program,
  formulas: readonly string[],
  usual: readonly Float64Array[],
  start: number,
  end: number,
): void {
  const later = pickCells(panel, range(rowCount, start), range(laneCount));
  const shorter = pickCells(panel, range(end), range(laneCount));
  const [fromLater, ofShorter] = [later, shorter].map((other) =>
    evaluateHere(program, other, { params: PARAMS }),
  );
  program.factors.forEach(({ lookbackRows }, i) => {
    const expected = cellsOf(usual[i]!);
    expectCells(
      { label: `${formulas[i]} from row ${start} on`, column: fromLater![i]!, panel: later },
      (row, lane) => (row >= lookbackRows ? expected(row + start, lane) : undefined),
    );
    expectCells(
      { label: `${formulas[i]} up to row ${end}`, column: ofShorter![i]!, panel: shorter },
      expected,
    );
  });
}

function cellsOf(column: Float64Array): Expected {
  return (row, lane) => column[row * laneCount + lane];
}

/** The engine's threads give the bits that this thread gives. */
async function checkEngine(engine: Engine, formulas: readonly string[]): Promise<void> {
  const program = compileBatch(formulas);
  const usual = evaluateHere(program, panel, { params: PARAMS });
  const { table } = await engine.evaluate(program, panel, { keepInfinite: true });
  formulas.forEach((formula, i) => {
    const cells = [...(table.getChild(`f${i}`) ?? [])].map((cell) => cell ?? Number.NaN);
    expectCells(
      { label: `${formula} on threads`, column: Float64Array.from(cells), panel },
      cellsOf(usual[i]!),
    );
  });
}

/** Whatever the text: a program, or a FormulaError whose diagnostics say where and what to do, and soon. */
function checkGarbage(text: string, dialect: string | null): void {
  const started = performance.now();
  try {
    for (const { dag } of compile(text, dialect === null ? {} : { dialect }).stages) verifyDag(dag);
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    const isComplete = error.diagnostics.every(
      ({ code, message, remedy, line, column }) =>
        /^E\d{3}$/.test(code) && message && remedy && line >= 1 && column >= 1,
    );
    if (error.diagnostics.length === 0 || !isComplete)
      throw new Error(`incomplete diagnostics: ${error.message}`);
  }
  const elapsedMs = performance.now() - started;
  if (elapsedMs > COMPILE_MS_MAX) throw new Error(`compiling took ${elapsedMs} ms`);
}

export const FUZZ_PROPERTIES: readonly FuzzProperty[] = [
  {
    name: "the printed text of a formula is that formula",
    formulasPerRun: 1,
    check: (parameters) =>
      fc.assert(
        fc.asyncProperty(randomFormulas, async (formula) => checkPrinting(formula)),
        parameters,
      ),
  },
  {
    name: "the bits do not depend on passes, batches, parts, a later start or an earlier end",
    formulasPerRun: 7,
    check: (parameters) =>
      fc.assert(
        fc.asyncProperty(batches, async (batch) => checkEvaluations(batch)),
        parameters,
      ),
  },
  {
    name: "the bits do not depend on threads",
    formulasPerRun: 7,
    check: async (parameters) => {
      const engine = await Engine.start({ threads: 2 });
      try {
        await fc.assert(
          fc.asyncProperty(formulaBatches, (formulas) => checkEngine(engine, formulas)),
          parameters,
        );
      } finally {
        await engine.close();
      }
    },
  },
  {
    name: "garbage ends in a FormulaError",
    formulasPerRun: 1,
    check: (parameters) => {
      const dialects = fc.option(fc.constantFrom(...Object.keys(DIALECTS)), { freq: 2 });
      return fc.assert(
        fc.asyncProperty(garbageTexts, dialects, async (text, dialect) => checkGarbage(text, dialect)),
        parameters,
      );
    },
  },
];
