import { execFileSync } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { Cluster } from "../../src/cluster/client/cluster.ts";
import { examineCluster } from "../../src/cluster/deploy/doctor.ts";
import { type LocalCluster, startLocalCluster } from "../../src/cluster/deploy/local_cluster.ts";
import { compile } from "../../src/compile.ts";
import { fileFolder } from "../support/file_folder.ts";
import { hasDask, hasOpenssl } from "../support/needs.ts";
import { PATIENCE_SECONDS } from "../support/until.ts";
import { listening, refusal } from "./support/refusal.ts";

/** What says nothing where a scheduler should be, and whether certificates fit. */

describe.runIf(await hasDask())("an address without a scheduler", () => {
  test("nobody listens: E603 once the time is over", async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const { message, seconds } = await refusal(`tcp://127.0.0.1:${port}`);
    expect(message).toMatch(/^E603 .* does not answer: nobody listens there \(.*refused.*\)\n {2}start it/);
    expect(seconds).toBeLessThan(30);
  });

  test("a socket that says nothing: E603 once the time is over", async () => {
    const server = createServer(() => {});
    const port = await listening(server);
    const { message, seconds } = await refusal(`tcp://127.0.0.1:${port}`);
    server.close();
    expect(message).toMatch(
      /^E603 .*: something accepts the connection and sends nothing\n {2}give the address/,
    );
    expect(seconds).toBeLessThan(30);
  });
});

describe.runIf((await hasDask()) && (await hasOpenssl()))("a scheduler with TLS", () => {
  const folder = fileFolder();
  let dask: LocalCluster;
  const file = (name: string) => join(folder, name);
  const tls = () => ({ ca: file("ca.pem"), cert: file("cert.pem"), key: file("key.pem") });

  beforeAll(async () => {
    makeCertificates("ca", "key", "cert");
    makeCertificates("other_ca", "other_key", "other_cert");
    const place = "DASK_DISTRIBUTED__COMM__TLS__";
    const roles = ["SCHEDULER", "WORKER", "CLIENT"].flatMap((role) => [
      [`${place}${role}__CERT`, file("cert.pem")],
      [`${place}${role}__KEY`, file("key.pem")],
    ]);
    const config = {
      DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME: "tls",
      DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION: "true",
      [`${place}CA_FILE`]: file("ca.pem"),
      ...Object.fromEntries(roles),
    };
    dask = await startLocalCluster({ workers: 1, config });
  });
  afterAll(async () => {
    await dask?.close();
  });

  /** One that signs, and a certificate for 127.0.0.1 that it has signed. */
  function makeCertificates(ca: string, key: string, cert: string): void {
    const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
    const fresh = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];
    openssl("req", "-x509", ...fresh, "-keyout", `${ca}.key`, "-out", `${ca}.pem`, "-subj", `/CN=${ca}`);
    openssl(
      "req",
      ...fresh.slice(0, 3),
      "-keyout",
      `${key}.pem`,
      "-out",
      "request",
      "-subj",
      "/CN=127.0.0.1",
    );
    const signer = ["-CA", `${ca}.pem`, "-CAkey", `${ca}.key`, "-CAcreateserial"];
    openssl("x509", "-req", "-in", "request", ...signer, "-days", "2", "-out", `${cert}.pem`);
  }

  test("evaluates with its certificates", async () => {
    expect(dask.address).toMatch(/^tls:/);
    await using cluster = await Cluster.connect({
      scheduler: dask.address,
      tls: tls(),
      timeoutSeconds: PATIENCE_SECONDS,
    });
    const panel = syntheticPanel({ lanes: 3, rows: 20, nullShare: 0 });
    const table = await cluster.evaluate(compile("x = rank(close)", { fields: ["close"] }), panel);
    expect(table.numRows).toBe(60);
    const { problems } = await examineCluster({ scheduler: dask.address, tls: tls() });
    expect(problems).toEqual([]);
  });

  test("under tcp:// is recognised", async () => {
    const { message } = await refusal(dask.address.replace("tls:", "tcp:"), { timeoutSeconds: 60 });
    expect(message).toMatch(/^E603 .*: the server there uses TLS\n {2}give the address as tls:.*--tls-ca/);
  });

  test("needs certificates, and the right ones", async () => {
    const none = await refusal(dask.address, { timeoutSeconds: 60 });
    expect(none.message).toMatch(
      /^E603 .*: TLS needs other certificates \(none are given\)\n {2}give --tls-ca/,
    );
    const others = { ca: file("other_ca.pem"), cert: file("other_cert.pem"), key: file("other_key.pem") };
    const wrongCa = await refusal(dask.address, { tls: others });
    expect(wrongCa.message).toMatch(/^E603 .*: TLS needs other certificates \(CERTIFICATE_VERIFY_FAILED\)/);
    const wrongCert = await refusal(dask.address, { tls: { ...others, ca: file("ca.pem") } });
    expect(wrongCert.message).toMatch(/^E603 .*: TLS needs other certificates \(.*(ALERT|UNKNOWN_CA).*\)/);
  });

  test("refuses files that do not fit before anybody is asked", async () => {
    for (const [options, reason] of [
      [{ scheduler: "tcp://127.0.0.1:1" }, /certificates are given, and tcp:.* uses none/],
      [{ tls: { ...tls(), key: undefined } }, /a certificate and its key go together/],
      [{ tls: { ...tls(), ca: file("missing.pem") } }, /cannot be read: ENOENT.*missing\.pem/],
    ] as const) {
      const { message, code } = await refusal(dask.address, { tls: tls(), ...options });
      expect([code, message]).toEqual(["E632", expect.stringMatching(reason)]);
    }
    const { code } = await refusal(dask.address, { tls: { ...tls(), ca: file("key.pem") } });
    expect(code).toBe("E632");
  });

  test("a scheduler without TLS under tls:// is recognised", async () => {
    await using plain = await startLocalCluster({ workers: 0 });
    const { message } = await refusal(plain.address.replace("tcp:", "tls:"), { tls: tls() });
    expect(message).toMatch(/^E603 .*: the server there does not use TLS\n {2}give the address as tcp:/);
  });
});
