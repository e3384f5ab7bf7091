import type { AddressInfo, Server } from "node:net";
import { Cluster } from "../../../src/cluster/client/cluster.ts";
import type { ClusterOptions } from "../../../src/cluster/client/options.ts";

/** How an attempt to connect ends, and in which time. */
export async function refusal(scheduler: string, options: Partial<ClusterOptions> = {}) {
  const start = performance.now();
  const attempt = Cluster.connect({ scheduler, timeoutSeconds: 20, ...options });
  const error = await attempt.then(
    async (cluster) => await cluster.close().then(() => null),
    (reason) => reason,
  );
  return { message: String(error?.message), code: error?.code, seconds: (performance.now() - start) / 1000 };
}

/** The port of a server on loopback. */
export const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};
