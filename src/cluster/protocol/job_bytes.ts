import { hash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { otherVersion } from "./errors.ts";
import { type ClusterJob, PROTOCOL_VERSION } from "./protocol.ts";

/** A serialised job. */
export interface PackedJob {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes in hexadecimal digits: the name of the job. */
  readonly digest: string;
}

export function packJob(job: ClusterJob): PackedJob {
  const bytes = serialize(job);
  return { bytes, digest: hash("sha256", bytes) };
}

/**
 * The job of a copy of these bytes.
 *
 * @throws ResourceError E605 if the digest is another one, or the version of the protocol.
 */
export function unpackJob(bytes: Uint8Array, digest: string): ClusterJob {
  const found = hash("sha256", bytes);
  if (found !== digest) throw otherVersion("the job", found, digest);
  // Deserialised typed arrays are views of the bytes.
  const job = deserialize(new Uint8Array(bytes)) as ClusterJob;
  if (job.protocol !== PROTOCOL_VERSION) {
    throw otherVersion("the job", `protocol ${job.protocol}`, `protocol ${PROTOCOL_VERSION}`);
  }
  return job;
}
