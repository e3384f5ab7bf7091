/** Of PEM files. */
export interface TlsFiles {
  /** Who has signed the certificate of the scheduler. */
  readonly ca?: string | undefined;
  /** What the scheduler knows the client by. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ConnectOptions {
  /** Those of the whole start, as the user has given them. */
  readonly timeoutSeconds: number;
  /** Those that are left of them. */
  readonly seconds?: number | undefined;
  readonly tls?: TlsFiles | undefined;
  /** Where tasks will run, so that clusters that grow start such workers. */
  readonly workers?: readonly string[] | undefined;
  readonly resources?: Readonly<Record<string, number>> | undefined;
}

/** As `bridge.py` and `doctor.py` read it: null for what is left out. */
export function connectRequest(options: ConnectOptions) {
  const { timeoutSeconds, seconds = timeoutSeconds, tls, workers = null, resources = null } = options;
  const files =
    tls === undefined ? null : { ca: tls.ca ?? null, cert: tls.cert ?? null, key: tls.key ?? null };
  return { timeoutSeconds, seconds, workers, resources, tls: files };
}
