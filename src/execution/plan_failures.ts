import { FactorloomError, InternalError, ResourceError } from "../errors.ts";
import { operatorFailed } from "../operator/transfer.ts";
import type { PartFailure, PlanData } from "./protocol.ts";

/** A user's operator threw. */
export class OperatorError extends Error {
  readonly operator: string;

  constructor(operator: string, cause: unknown) {
    super(`the operator ${operator} failed`, { cause });
    this.operator = operator;
  }
}

export function failureOf(stage: PartFailure["stage"], error: unknown): PartFailure {
  const isNamed = error instanceof OperatorError;
  const thrown = isNamed ? error.cause : error;
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return { stage, operator: isNamed ? error.operator : null, text };
}

export function partFailure(
  data: PlanData,
  node: number,
  { stage, operator, text }: PartFailure,
): FactorloomError {
  const [message = ""] = text.split("\n");
  const users = operator !== null ? [operator] : stage === "load" ? userOperators(data) : [];
  const what = stage === "load" ? "cannot be loaded by executor threads" : "failed";
  if (users.length > 0) return operatorFailed(`${named(users)} ${what}: ${message}`, text);
  return new InternalError(`${named(operatorsOf(data, node))} ${what} in node ${node}: ${text}`);
}

/** One part lost two executors in a row. */
export function threadLoss(data: PlanData, node: number): ResourceError {
  const users = userOperatorsOf(data, node);
  const operators = users.length > 0 ? users : operatorsOf(data, node);
  return threadsEnded(
    `${named(operators)} ended its thread twice in a row (node ${node})`,
    "if it is your operator, look for process.exit or unbounded memory in its reference",
  );
}

/** Two executors were lost while they loaded the plan. */
export function loadLoss(data: PlanData): ResourceError {
  const users = userOperators(data);
  return users.length > 0
    ? threadsEnded(
        `${named(users)} ended its thread twice while it was loaded`,
        "look for process.exit or unbounded memory in its module, and in what that imports",
      )
    : threadsEnded(
        "the plan ended its thread twice while it was loaded",
        "raise the memory limit, or evaluate fewer factors at once",
      );
}

export function planClosed(): ResourceError {
  const remedy = "await its runs before closing it, or open it again";
  return new ResourceError("E404", "the plan was closed", remedy);
}

/** Whether operators of the plan are at fault: one threw, or ended its thread. */
export function isOfOperator(error: unknown): boolean {
  const faults = [operatorFailed("", null), threadsEnded("", "")];
  return error instanceof FactorloomError && faults.some(({ code }) => code === error.code);
}

function threadsEnded(problem: string, remedy: string): ResourceError {
  return new ResourceError("E402", problem, remedy);
}

const userOperators = ({ operators }: PlanData): string[] =>
  operators.map(({ facts }) => String(facts["name"]));

/** Those of a node. */
function userOperatorsOf(data: PlanData, node: number): string[] {
  const inNode = operatorsOf(data, node);
  return userOperators(data).filter((name) => inNode.includes(name));
}

/** The distinct operators of a node; `input` for the node that copies the panel's rows. */
export function operatorsOf({ plan }: PlanData, node: number): string[] {
  const { kind, tasks } = plan.nodes[node]!;
  if (kind === "input") return [kind];
  return [...new Set(tasks.map((task) => plan.tasks[task]!.operator))];
}

function named(operators: readonly string[]): string {
  return operators.length === 1
    ? `the operator ${operators[0]}`
    : `one of the operators ${operators.join(", ")}`;
}
