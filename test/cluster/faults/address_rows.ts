import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect } from "vitest";
import { examineCluster } from "../../../src/cluster/deploy/doctor.ts";
import { tlsFiles } from "./fault_clusters.ts";
import { at, type RunRow, row } from "./fault_row.ts";
import type { Scene } from "./scene.ts";

/** Is no fault. */
export const CONTROL = "TLS with its certificates";
/** Where the answer comes once the time is over. */
const SHORT = 10;

/** A server on loopback, until the end of the row. */
async function serve(scene: Scene, server: Server, timeoutSeconds: number) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scene.defer(() => server.close());
  return { scheduler: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutSeconds };
}

const WHEN = [at("while it connects", "chunks")];
const TLS = { cluster: "tls", needs: "openssl" } as const;
/** With Dask's own text behind the address. */
const unreachable = (says: string) => ({
  code: "E603",
  says: new RegExp(
    `^E603 no Dask scheduler answers at [a-z]+://[\\d.:]+: .*(?:${says}).*\\n {2}start it, or give`,
  ),
  seconds: 30,
});
const tlsUnusable = (says = /./) => ({ code: "E528", says });
const own = () => tlsFiles("own");
const place = (fault: string, act: RunRow["act"], says: string, more: Partial<RunRow> = {}) =>
  row(fault, WHEN, act, unreachable(says), { cluster: "none", ...more });
const tls = (fault: string, act: RunRow["act"], end: RunRow["end"], more: Partial<RunRow> = {}) =>
  row(fault, WHEN, act, end, { ...TLS, ...more });
const mail = () => createServer((socket) => socket.end("220 mail.example.org ESMTP\r\n"));
const silent = () => createServer(() => {});
async function serveHttp(scene: Scene) {
  const server = createHttpServer((_, answer) => answer.end("hello"));
  scene.defer(() => server.closeAllConnections());
  return await serve(scene, server, SHORT);
}
async function serveNot(scene: Scene) {
  const server = createServer();
  const options = await serve(scene, server, SHORT);
  server.close();
  return options;
}
const under = (from: string, to: string, more: object) => (scene: Scene) => ({
  scheduler: scene.setting.dask.address.replace(from, to),
  ...more,
});
async function expectHealthy({ setting: { dask } }: Scene): Promise<void> {
  expect(dask.address).toMatch(/^tls:/);
  const { problems } = await examineCluster({ scheduler: dask.address, tls: own() });
  expect(problems).toEqual([]);
}

/** What stands where a scheduler should be, and whether certificates fit. */
export const ADDRESS_ROWS: readonly RunRow[] = [
  place("an HTTP server stands where the scheduler should be", serveHttp, "handshake", { isQuick: true }),
  place(
    "another service stands where the scheduler should be",
    (scene) => serve(scene, mail(), SHORT),
    "handshake",
  ),
  place("no process listens", serveNot, "Timed out"),
  place("a socket says nothing", (scene) => serve(scene, silent(), SHORT), "handshake"),
  tls(CONTROL, () => ({ tls: own() }), {}, { also: expectHealthy }),
  tls("TLS under tcp://", under("tls:", "tcp:", { timeoutSeconds: SHORT }), unreachable("handshake")),
  tls("TLS without certificates", () => ({}), unreachable("ssl_context")),
  tls(
    "TLS with certificates of another authority",
    () => ({ tls: tlsFiles("other"), timeoutSeconds: SHORT }),
    unreachable("CERTIFICATE_VERIFY_FAILED"),
  ),
  tls(
    "TLS with a certificate that another authority has signed",
    () => ({ tls: { ...tlsFiles("other"), ca: own().ca }, timeoutSeconds: SHORT }),
    unreachable("ALERT|UNKNOWN_CA"),
  ),
  tls(
    "a scheduler without TLS under tls://",
    (scene) => under("tcp:", "tls:", { tls: own(), timeoutSeconds: SHORT })(scene),
    unreachable("SSL"),
    { cluster: "patient" },
  ),
  tls(
    "certificates for an address without TLS",
    () => ({ tls: own(), scheduler: "tcp://127.0.0.1:1" }),
    tlsUnusable(/certificates are given, and tcp:.* uses none/),
  ),
  tls(
    "a certificate without its key",
    () => ({ tls: { ...own(), key: undefined } }),
    tlsUnusable(/a certificate and its key go together/),
  ),
  tls(
    "certificates that are not there",
    () => ({ tls: { ...own(), ca: "/nowhere/missing.pem" } }),
    tlsUnusable(/cannot be read: ENOENT.*missing\.pem/),
  ),
  tls("a key where the authority should be", () => ({ tls: { ...own(), ca: own().key } }), tlsUnusable()),
];
