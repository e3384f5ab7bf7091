import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect } from "vitest";
import { examineCluster } from "../../../src/cluster/deploy/doctor.ts";
import { tlsFiles } from "./fault_clusters.ts";
import type { RunRow, Scene } from "./fault_row.ts";

/** Is no fault. */
export const CONTROL = "TLS with its certificates";
/** Where the answer comes once the time is over. */
const SHORT = 20;

/** A server on loopback, until the end of the row. */
async function serve(scene: Scene, server: Server, timeoutSeconds: number) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scene.defer(() => server.close());
  return { scheduler: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutSeconds };
}

const ANY = { moment: "while it connects", cluster: "none" } as const;
const TLS = { moment: "while it connects", cluster: "tls", needs: "openssl" } as const;
/** With Dask's own text behind the address. */
const e603 = (says: string) => ({
  code: "E603",
  says: new RegExp(
    `^E603 no Dask scheduler answers at [a-z]+://[\\d.:]+: .*(?:${says}).*\\n {2}start it, or give`,
  ),
  seconds: 30,
});
const e632 = (says: RegExp) => ({ code: "E632", says });
const own = () => tlsFiles("own");

/** What stands where a scheduler should be, and whether certificates fit. */
export const ADDRESS_ROWS: readonly RunRow[] = [
  {
    ...ANY,
    fault: "an HTTP server stands where the scheduler should be",
    isQuick: true,
    inflict: (scene) => {
      const server = createHttpServer((_, answer) => answer.end("hello"));
      scene.defer(() => server.closeAllConnections());
      return serve(scene, server, 10);
    },
    expected: e603("handshake"),
  },
  {
    ...ANY,
    fault: "another service stands where the scheduler should be",
    inflict: (scene) =>
      serve(
        scene,
        createServer((socket) => socket.end("220 mail.example.org ESMTP\r\n")),
        SHORT,
      ),
    expected: e603("handshake"),
  },
  {
    ...ANY,
    fault: "no process listens",
    inflict: async (scene) => {
      const server = createServer();
      const options = await serve(scene, server, SHORT);
      server.close();
      return options;
    },
    expected: e603("Timed out"),
  },
  {
    ...ANY,
    fault: "a socket says nothing",
    inflict: (scene) =>
      serve(
        scene,
        createServer(() => {}),
        SHORT,
      ),
    expected: e603("handshake"),
  },
  {
    ...TLS,
    fault: CONTROL,
    inflict: () => ({ tls: own() }),
    expected: {},
    also: async ({ setting: { dask } }) => {
      expect(dask.address).toMatch(/^tls:/);
      const { problems } = await examineCluster({ scheduler: dask.address, tls: own() });
      expect(problems).toEqual([]);
    },
  },
  {
    ...TLS,
    fault: "TLS under tcp://",
    inflict: ({ setting }) => ({
      scheduler: setting.dask.address.replace("tls:", "tcp:"),
      timeoutSeconds: SHORT,
    }),
    expected: e603("handshake"),
  },
  {
    ...TLS,
    fault: "TLS without certificates",
    inflict: () => ({}),
    expected: e603("ssl_context"),
  },
  {
    ...TLS,
    fault: "TLS with certificates of another authority",
    inflict: () => ({ tls: tlsFiles("other"), timeoutSeconds: SHORT }),
    expected: e603("CERTIFICATE_VERIFY_FAILED"),
  },
  {
    ...TLS,
    fault: "TLS with a certificate that another authority has signed",
    inflict: () => ({ tls: { ...tlsFiles("other"), ca: own().ca }, timeoutSeconds: SHORT }),
    expected: e603("ALERT|UNKNOWN_CA"),
  },
  {
    ...TLS,
    fault: "a scheduler without TLS under tls://",
    cluster: "patient",
    inflict: ({ setting }) => ({
      scheduler: setting.dask.address.replace("tcp:", "tls:"),
      tls: own(),
      timeoutSeconds: SHORT,
    }),
    expected: e603("SSL"),
  },
  {
    ...TLS,
    fault: "certificates for an address without TLS",
    inflict: () => ({ tls: own(), scheduler: "tcp://127.0.0.1:1" }),
    expected: e632(/certificates are given, and tcp:.* uses none/),
  },
  {
    ...TLS,
    fault: "a certificate without its key",
    inflict: () => ({ tls: { ...own(), key: undefined } }),
    expected: e632(/a certificate and its key go together/),
  },
  {
    ...TLS,
    fault: "certificates that are not there",
    inflict: () => ({ tls: { ...own(), ca: "/nowhere/missing.pem" } }),
    expected: e632(/cannot be read: ENOENT.*missing\.pem/),
  },
  {
    ...TLS,
    fault: "a key where the authority should be",
    inflict: () => ({ tls: { ...own(), ca: own().key } }),
    expected: { code: "E632" },
  },
];
