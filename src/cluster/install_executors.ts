import type { Bridge } from "./bridge.ts";
import { executorBundle } from "./bundle.ts";
import { packageVersion } from "./package_version.ts";
import { PROTOCOL_VERSION } from "./protocol.ts";

/**
 * Brings the executors of this very package to all workers.
 *
 * @param node path of Node on the hosts; null: `FACTORLOOM_NODE` there, else `node` on their path
 * @throws as `Bridge.install`.
 */
export async function installExecutors(bridge: Bridge, node: string | null): Promise<void> {
  const hello = { protocol: PROTOCOL_VERSION, version: packageVersion() };
  await bridge.install({ ...(await executorBundle()), node, hello });
}
