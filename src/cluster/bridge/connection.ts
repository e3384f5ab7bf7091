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
  readonly seconds?: number;
  readonly tls?: TlsFiles | undefined;
  /** Where tasks will run: clusters that grow start such workers. */
  readonly workers?: readonly string[] | undefined;
  readonly resources?: Readonly<Record<string, number>> | undefined;
}
