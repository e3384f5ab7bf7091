import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileFolder } from "../../support/file_folder.ts";
import { FaultSetting } from "../support/fault_setting.ts";

const TTL = "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL";
/** Tasks may lose one worker, not three: those that lose more are given up soon. */
const ONCE = { DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES: "1" };

/** What rows share. */
export const CLUSTERS = {
  /** Nothing depends on Dask giving a worker up: any busy machine is silent for some seconds. */
  patient: () => FaultSetting.start({ config: { [TTL]: "10 minutes", ...ONCE } }),
  hasty: () => FaultSetting.start({ config: { [TTL]: "5s", ...ONCE } }),
  tls: () => FaultSetting.start({ workers: 1, config: tlsConfig() }),
  /** An address is all that counts. */
  none: async () => null,
} as const;

type Certificates = Readonly<Record<"ca" | "cert" | "key", string>>;
const made = new Map<string, Certificates>();

/** Certificates for 127.0.0.1, and who has signed them: those of the cluster `tls`, and others. */
export function tlsFiles(owner: "own" | "other"): Certificates {
  const file = (name: string) => join(fileFolder(), `${owner}_${name}.pem`);
  const files = { ca: file("ca"), cert: file("cert"), key: file("key") };
  if (!made.has(owner)) makeCertificates(files, owner);
  made.set(owner, files);
  return files;
}

function makeCertificates({ ca, cert, key }: Certificates, owner: string): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "ignore" });
  const fresh = ["-newkey", "rsa:2048", "-nodes"];
  const [caKey, request] = [`${ca}.key`, `${cert}.request`];
  openssl("req", "-x509", ...fresh, "-days", "2", "-keyout", caKey, "-out", ca, "-subj", `/CN=${owner}`);
  openssl("req", ...fresh, "-keyout", key, "-out", request, "-subj", "/CN=127.0.0.1");
  const signer = ["-CA", ca, "-CAkey", caKey, "-CAcreateserial"];
  openssl("x509", "-req", "-in", request, ...signer, "-days", "2", "-out", cert);
}

function tlsConfig(): Record<string, string> {
  const { ca, cert, key } = tlsFiles("own");
  const place = "DASK_DISTRIBUTED__COMM__";
  const roles = ["SCHEDULER", "WORKER", "CLIENT"].flatMap((role) => [
    [`${place}TLS__${role}__CERT`, cert],
    [`${place}TLS__${role}__KEY`, key],
  ]);
  return {
    [`${place}DEFAULT_SCHEME`]: "tls",
    [`${place}REQUIRE_ENCRYPTION`]: "true",
    [`${place}TLS__CA_FILE`]: ca,
    ...Object.fromEntries(roles),
  };
}
