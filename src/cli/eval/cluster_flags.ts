/** The flags of clusters that several commands take. */
import { type Command, InvalidArgumentError } from "commander";
import type { TlsFiles } from "../../cluster/bridge/bridge.ts";

export interface ConnectionFlags {
  readonly scheduler?: string;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly python?: string;
  readonly node?: string;
}

/** Undefined without a TLS option: Dask's own settings apply then. */
export function tlsFiles({ tlsCa: ca, tlsCert: cert, tlsKey: key }: ConnectionFlags): TlsFiles | undefined {
  return [ca, cert, key].every((path) => path === undefined) ? undefined : { ca, cert, key };
}

export const PYTHON =
  "Python that has Dask's distributed (default: FACTORLOOM_PYTHON, else the first that has it)";

/** Adds the flags of a connection, but for the address. */
export function addConnectionFlags(command: Command): Command {
  return command
    .option("--python <path>", PYTHON)
    .option("--node <path>", "Node on the workers (default: FACTORLOOM_NODE there, else node on their PATH)")
    .option("--tls-ca <path>", "certificate of who signed the scheduler's, for tls://host:8786")
    .option("--tls-cert <path>", "certificate that the scheduler knows this client by")
    .option("--tls-key <path>", "key of that certificate");
}

export function parseResources(text: string): Record<string, number> {
  const pairs = text.split(",").map((pair) => /^\s*([^=\s]+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(pair));
  if (pairs.some((pair) => pair === null)) throw new InvalidArgumentError("Write it as NAME=1,OTHER=2.");
  return Object.fromEntries(pairs.map((pair) => [pair![1] as string, Number(pair![2])]));
}
