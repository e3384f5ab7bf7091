/** Paths of PEM files. */
export interface TlsFiles {
  /** The authority that signed the certificate of the scheduler. */
  readonly ca?: string | undefined;
  /** The certificate of the client, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ConnectOptions {
  /** Limit for the whole start, as the user set it. */
  readonly timeoutSeconds: number;
  /** What is left of it. */
  readonly seconds?: number | undefined;
  readonly tls?: TlsFiles | undefined;
  /** Where tasks will run: clusters that grow start such workers. */
  readonly workers?: readonly string[] | undefined;
  readonly resources?: Readonly<Record<string, number>> | undefined;
}

/** The options for `bridge.py`, null for those that are not set. */
export function connectRequest(options: ConnectOptions) {
  const { timeoutSeconds, seconds = timeoutSeconds, tls, workers = null, resources = null } = options;
  const files =
    tls === undefined ? null : { ca: tls.ca ?? null, cert: tls.cert ?? null, key: tls.key ?? null };
  return { timeoutSeconds, seconds, workers, resources, tls: files };
}
