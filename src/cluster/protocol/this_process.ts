import { hostname } from "node:os";

/** Set by workers for their executors: what the worker is called, and where it is. */
const WORKER_VARIABLE = "FACTORLOOM_WORKER";

/** How errors call the process that met them: `worker w1 (tcp://10.0.0.7:40001) on host7`, or `the client`. */
export function thisProcess(): string {
  const worker = process.env[WORKER_VARIABLE];
  return worker === undefined ? "the client" : `worker ${worker} on ${hostname()}`;
}
