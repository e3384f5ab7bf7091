import { hash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { otherVersion } from "./errors.ts";
import type { ClusterJob } from "./protocol.ts";

/** A serialised job; the SHA-256 of its bytes, in hexadecimal digits, is its name. */
export function packJob(job: ClusterJob): { readonly bytes: Uint8Array; readonly digest: string } {
  const bytes = serialize(job);
  return { bytes, digest: hash("sha256", bytes) };
}

/** The job of a copy of these bytes. @throws ResourceError E605 if the digest is another one. */
export function unpackJob(bytes: Uint8Array, digest: string): ClusterJob {
  const found = hash("sha256", bytes);
  if (found !== digest) throw otherVersion("the job", found, digest);
  // Deserialised typed arrays are views of the bytes.
  return deserialize(new Uint8Array(bytes)) as ClusterJob;
}
