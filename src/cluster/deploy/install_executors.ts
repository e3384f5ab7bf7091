import type { Bridge } from "../bridge/bridge.ts";
import { packageVersion } from "../protocol/package_version.ts";
import { PROTOCOL_VERSION } from "../protocol/protocol.ts";
import { type ExecutorBundle, executorBundle } from "./bundle.ts";

/** Packed once: the running code does not change. */
let ownBundle: Promise<ExecutorBundle> | null = null;

/**
 * Brings the executors of this package to all workers.
 *
 * @param node path of Node on the hosts; null: `FACTORLOOM_NODE` there, else `node` on their path
 * @returns the digest of their code
 * @throws as `Bridge.install`.
 */
export async function installExecutors(bridge: Bridge, node: string | null): Promise<string> {
  const hello = { protocol: PROTOCOL_VERSION, version: packageVersion() };
  ownBundle ??= executorBundle();
  const bundle = await ownBundle;
  await bridge.install({ ...bundle, node, hello });
  return bundle.digest;
}
