import { InternalError } from "../../errors.ts";
import * as errors from "../protocol/errors.ts";
import type { TaskFault } from "../protocol/protocol.ts";

/** A fault that the bridge or the worker plugin reports: that of an executor, or a function of `errors.ts` by its name. */
export type BridgeFault = TaskFault | NamedFault;

interface NamedFault {
  readonly error: string;
  readonly args: readonly (string | number)[];
}

const FUNCTIONS = new Map<string, unknown>(Object.entries(errors));

/** The error of a fault; an AbortError if the task was cancelled. */
export function errorOfBridgeFault(fault: BridgeFault): Error {
  if (!("args" in fault)) return errors.errorOfFault(fault);
  const { error, args } = fault;
  if (error === "cancelled") return new DOMException("the run on the cluster was cancelled", "AbortError");
  const create = FUNCTIONS.get(error);
  if (typeof create !== "function") return new InternalError(`the bridge reports ${error}`);
  return create(...args);
}
