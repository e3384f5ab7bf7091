import { type FactorloomError, InternalError } from "../../errors.ts";
import * as errors from "../protocol/errors.ts";
import type { TaskFault } from "../protocol/protocol.ts";

/** A fault that the bridge or the worker plugin reports: that of an executor, or the code of an error of `errors.ts`. */
export type BridgeFault = TaskFault | CodedFault;

interface CodedFault {
  readonly code: string;
  readonly args: readonly (string | number)[];
}

const FACTORIES: Readonly<Record<string, (...args: never[]) => FactorloomError>> = {
  E601: errors.wrongAddress,
  E603: errors.schedulerUnreachable,
  E604: errors.noWorkers,
  E605: errors.noNode,
  E606: errors.otherVersion,
  E607: errors.executorLost,
  E608: errors.workersLost,
  E609: errors.storeFailed,
  E610: errors.columnsMissing,
  E611: errors.schedulerLost,
  E613: errors.executorSilent,
  E619: errors.bundleNotUnpacked,
  E622: errors.noSuchWorker,
  E627: errors.bundleChanged,
  E632: errors.tlsUnusable,
  E634: errors.executorTooLarge,
  E635: errors.wrongShare,
};

/** The error of a fault; an AbortError if the task was cancelled. */
export function errorOfBridgeFault(fault: BridgeFault): Error {
  if (!("args" in fault)) return errors.errorOfFault(fault);
  if (fault.code === "cancelled")
    return new DOMException("the run on the cluster was cancelled", "AbortError");
  const create = FACTORIES[fault.code];
  if (create === undefined) return new InternalError(`the bridge reports ${fault.code}`);
  return create(...(fault.args as never[]));
}
