import type { CallNode, Expression } from "../../src/ast/nodes.ts";
import { compile, finalDag, type Program } from "../../src/compile.ts";
import type { CallTask } from "../../src/dag/dag.ts";
import { PASS_NAMES } from "../../src/dag/passes/order.ts";
import type { KernelOperator, Operator } from "../../src/operator/definition.ts";
import type { Panel } from "../../src/panel.ts";
import { bindFormula } from "../ast_print/bound_formula.ts";
import { runProgram } from "../kernel/run_plan.ts";
import {
  type CallShape,
  callText,
  columnsOf,
  exampleSettings,
  isAllowed,
  settingsWithWindows,
} from "./applications.ts";
import { FIELDS, GROUPS, HISTORY_ROWS, panels } from "./awkward_panels.ts";
import type { Result } from "./same_cells.ts";

const EXAMPLE_SETTINGS_MAX = 3;
/** Windows of 0 rows become 1, delays of 0 stay. */
const WINDOW_ROWS = [0, 1, 2, 5, HISTORY_ROWS, HISTORY_ROWS + 3];

/** One way of calling the operator. */
export interface Application {
  readonly formula: string;
  readonly shape: CallShape & { readonly columns: readonly string[] };
  /** Fields behind its series and condition arguments; conditions are null where their fields are. */
  readonly fields: readonly string[];
  readonly group: string;
  readonly tree: Expression;
  /** The bound call; null for operators that stand for a formula. */
  readonly call: (CallNode & { readonly operator: KernelOperator }) | null;
  /** Rows of history before the current one that a value depends on. */
  readonly lookbackRows: number;
}

/** Results over one panel, one column for each application. */
export interface PanelResults {
  readonly panel: Panel;
  readonly columns: readonly Float64Array[];
}

/** An operator under test: its applications as the factors of one program, and what their graph allows to expect. */
export interface Subject {
  readonly operator: Operator;
  /** Run by reference, or by the operator's own code where it has some. */
  readonly reference: boolean;
  readonly applications: readonly Application[];
  readonly program: Program;
  /** No lane depends on another. */
  readonly isLaneWise: boolean;
  /** No row depends on another. */
  readonly isRowWise: boolean;
  /** Results over `panels.history`, `panels.rows` and `panels.pairs`. */
  readonly results: readonly PanelResults[];
  /** One column for each application, over `panels.history`. */
  readonly history: readonly Float64Array[];
}

export function prepareSubject(operator: Operator, reference: boolean): Subject {
  const drafts = shapesOf(operator).map(({ shape, group }) => {
    const columns = columnsOf(operator, group);
    const filled = { ...shape, columns: columns.map(({ text }) => text) };
    const fields = columns.map(({ field }) => field).filter((field) => FIELDS.includes(field));
    return { formula: callText(operator, filled), shape: filled, fields, group };
  });
  const program = compileFormulas(drafts.map(({ formula }) => formula));
  const applications = drafts.map((draft, i): Application => {
    const tree = bindFormula(draft.formula, { fields: FIELDS, groups: GROUPS });
    const call = operator.axis === "rewrite" ? null : (tree as Application["call"]);
    return { ...draft, tree, call, lookbackRows: program.factors[i]!.lookbackRows };
  });
  const calls = finalDag(program).tasks.filter((task): task is CallTask => task.kind === "call");
  const results = [panels.history, panels.rows, panels.pairs].map((panel) => {
    return { panel, columns: runProgram(program, panel, { reference }) };
  });
  const axes = new Set(calls.map((call) => call.operator.axis));
  return {
    operator,
    reference,
    applications,
    program,
    isLaneWise: !axes.has("cross_section") && !axes.has("group"),
    isRowWise: !axes.has("rolling") && !axes.has("recursive"),
    results,
    history: results[0]!.columns,
  };
}

/** Without passes: what is tested is the operator, not what a pass makes of it. */
export function compileFormulas(formulas: readonly string[]): Program {
  const text = formulas.map((formula, i) => `f${i} = ${formula}`).join("\n");
  return compile(text, { fields: FIELDS, groups: GROUPS, disabledPasses: PASS_NAMES });
}

function shapesOf(operator: Operator): { shape: CallShape; group: string }[] {
  const windows = settingsWithWindows(operator, WINDOW_ROWS);
  if (windows.length === 0) throw new Error(`${operator.name} allows none of the settings tried`);
  const examples = exampleSettings(operator).slice(1, EXAMPLE_SETTINGS_MAX);
  const shapes: CallShape[] = [...windows, ...examples].map((settings) => ({ settings }));
  if (operator.axis === "rolling" && operator.allowsMinPeriods) {
    const few = settingsWithWindows(operator, [5, HISTORY_ROWS + 3]).slice(1, 3);
    const drawn = few.flatMap((settings) => [1, 2, 3].map((minPeriods) => ({ settings, minPeriods })));
    shapes.push(...drawn.filter((shape) => isAllowed(callText(operator, shape))));
  }
  const withGroups = shapes.map((shape) => ({ shape, group: "g" }));
  return operator.axis === "group" ? [...withGroups, { shape: shapes[0]!, group: "h" }] : withGroups;
}

/** The result of one application. */
export interface ApplicationResult extends Result {
  readonly application: Application;
  readonly index: number;
}

/** The results of all applications over a panel. */
export function evaluateEach(subject: Subject, panel: Panel): ApplicationResult[] {
  const { program, applications, reference } = subject;
  const columns = runProgram(program, panel, { reference });
  return applications.map((application, index) => {
    return { application, index, label: application.formula, column: columns[index]!, panel };
  });
}
