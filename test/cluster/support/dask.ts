import { findPython } from "../../../src/cluster/python.ts";

/**
 * Whether this machine has Dask. A user need not have it: what needs it is then not run, and the runner says so. In CI its
 * absence is a failure, since nothing would ever be tried.
 *
 * @throws ResourceError E602 in CI.
 */
export async function hasDask(): Promise<boolean> {
  try {
    await findPython();
    return true;
  } catch (error) {
    if (process.env["CI"] === "true") throw error;
    return false;
  }
}
