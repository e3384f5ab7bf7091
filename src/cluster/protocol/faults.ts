import { DataError, FactorloomError, InternalError, ResourceError, UsageError } from "../../errors.ts";
import * as errors from "./errors.ts";
import type { TaskFault } from "./protocol.ts";

/** A fault that the bridge or the worker plugin reports: that of an executor, or a function of `errors.ts` by its name. */
export type BridgeFault = TaskFault | { readonly error: string; readonly args: readonly (string | number)[] };

const CLASSES = { data: DataError, usage: UsageError, resource: ResourceError };
const FUNCTIONS = new Map<string, unknown>(Object.entries(errors));
const STACK_LINES = 6;

/** An error in the form that travels to the client. */
export function faultOf(error: unknown): TaskFault {
  if (error instanceof FactorloomError) {
    const { code, problem, remedy } = error;
    const names = Object.keys(CLASSES) as (keyof typeof CLASSES)[];
    const errorClass = names.find((name) => error instanceof CLASSES[name]) ?? "internal";
    return { errorClass, code, problem, remedy };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const problem = text.split("\n").slice(0, STACK_LINES).join("\n");
  return { errorClass: "internal", code: "E900", problem, remedy: "" };
}

/** The error of a fault, as the client throws it; an AbortError if the task was cancelled. */
export function errorOfFault(fault: BridgeFault): Error {
  if ("errorClass" in fault) {
    const { errorClass, code, problem, remedy } = fault;
    return errorClass === "internal"
      ? new InternalError(problem)
      : new CLASSES[errorClass](code, problem, remedy);
  }
  const { error, args } = fault;
  if (error === "cancelled") return new DOMException("the run on the cluster was cancelled", "AbortError");
  const create = FUNCTIONS.get(error);
  if (typeof create !== "function") return new InternalError(`the bridge reports ${error}`);
  return create(...args);
}
