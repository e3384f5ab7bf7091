import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { serialize } from "node:v8";
import { moduleDigest } from "../../operator/operator_digest.ts";
import { inputFile, WHOLE_BYTES_MAX } from "../executor/input_digest.ts";
import type { JobCall, JobSource, RunIdentity } from "../protocol/protocol.ts";

/** Names a run by what it computes, its inputs and its code: equal for equal calls over the same files. */
export async function runId(
  call: JobCall,
  source: JobSource,
  inputs: RunIdentity["inputs"],
  modules: RunIdentity["modules"],
  code: string,
): Promise<string> {
  const hash = createHash("sha256").update(serialize([call, source, inputs, modules, code]));
  // The digest of a large file covers only samples, so its time of change is included.
  for (const { path, files } of inputs) {
    for (const { name, bytes } of files) {
      if (bytes > WHOLE_BYTES_MAX) hash.update(`${(await stat(inputFile(path, name))).mtimeMs} `);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/** Digests of the modules of the operators. */
export function modulesOf({ program }: JobCall): RunIdentity["modules"] {
  return Object.fromEntries(
    program.operators.flatMap(({ module }) => (module === null ? [] : [[module, moduleDigest(module)]])),
  );
}
