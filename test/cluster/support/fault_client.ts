/** A client in a process of its own: evaluates the program of `FaultSetting` until it is ended. `SCHEDULER BARS`. */
import { Cluster, openClusterPanel } from "../../../src/cluster/client/cluster.ts";
import { PATIENCE_SECONDS } from "../../support/until.ts";
import { CUT, gatedProgram } from "./fault_setting.ts";

const [scheduler, path] = process.argv.slice(2) as [string, string];
await using cluster = await Cluster.connect({ scheduler, timeoutSeconds: PATIENCE_SECONDS });
for await (const _ of cluster.stream(gatedProgram(), await openClusterPanel(path), CUT));
