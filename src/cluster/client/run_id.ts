import { hash } from "node:crypto";
import { moduleDigest } from "../../operator/operator_digest.ts";
import type { JobCall, JobSource, RunIdentity } from "../protocol/protocol.ts";

/** Names a run by what it computes, its inputs and its code: equal for equal calls over the same files. */
export function runId(
  { program, ...call }: JobCall,
  source: JobSource,
  { inputs, modules }: Pick<RunIdentity, "inputs" | "modules">,
  code: string,
): string {
  const computed = [program.origin.fingerprints.program, program.params];
  return hash("sha256", textOf([computed, call, source, inputs, modules, code])).slice(0, 16);
}

/** Digests of the modules of operators. */
export function modulesOf({ program }: JobCall): RunIdentity["modules"] {
  return Object.fromEntries(
    program.operators.flatMap(({ module }) => (module === null ? [] : [[module, moduleDigest(module)]])),
  );
}

/** The same text for equal values. `v8.serialize` tells numbers and arrays apart that the machine only stores otherwise. */
function textOf(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, value) {
    // The second argument is a Date as a text, and a Buffer as an array of its bytes.
    const each = this[key];
    if (typeof each === "bigint") return { bigint: String(each) };
    if (typeof each === "number" && !Number.isFinite(each)) return { number: String(each) };
    if (Object.is(each, -0)) return { number: "-0" };
    if (ArrayBuffer.isView(each))
      return { bytes: Buffer.from(each.buffer, each.byteOffset, each.byteLength).toString("base64") };
    return each instanceof Set || each instanceof Map ? { items: [...each] } : value;
  });
}
