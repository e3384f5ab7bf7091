import { DataError, FactorloomError, ResourceError, UsageError } from "../../errors.ts";
import type { TaskFault } from "../protocol/protocol.ts";

const STACK_LINES = 6;

/** An error in the form that travels to the client; `errorOfFault` is the inverse. */
export function faultOf(error: unknown): TaskFault {
  if (error instanceof FactorloomError) {
    const { code, problem, remedy } = error;
    return { errorClass: classOf(error), code, problem, remedy };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const problem = text.split("\n").slice(0, STACK_LINES).join("\n");
  return { errorClass: "internal", code: "E900", problem, remedy: "" };
}

function classOf(error: FactorloomError): TaskFault["errorClass"] {
  if (error instanceof DataError) return "data";
  if (error instanceof UsageError) return "usage";
  return error instanceof ResourceError ? "resource" : "internal";
}
