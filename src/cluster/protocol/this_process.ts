import { hostname } from "node:os";

/** Name and address of the worker; set by workers for their executors. */
const WORKER_VARIABLE = "FACTORLOOM_WORKER";

/** The name of this process in errors: `worker w1 (tcp://10.0.0.7:40001) on host7`, or `the client`. */
export function thisProcess(): string {
  const worker = process.env[WORKER_VARIABLE];
  return worker === undefined ? "the client" : `worker ${worker} on ${hostname()}`;
}
