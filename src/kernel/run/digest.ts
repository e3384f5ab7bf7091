import { createHash } from "node:crypto";
import type { Plan } from "../../plan/plan.ts";
import type { Code, Local } from "../emit/code.ts";
import { LaneCode } from "../emit/lane_code.ts";
import type { Library } from "../emit/library.ts";
import type { Signature } from "../emit/module.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { STEP_BYTES } from "../rows/layout/segment.ts";

/** Address of a row's values, address of their digests, number of bytes (whole steps are read), number of the row. */
export const DIGEST: Signature = { parameters: ["i32", "i32", "i32", "i32"], results: [] };

export const DIGEST_NAME = "digest";

/** Odd numbers whose multiples by odd numbers spread over all 64 bits: from the golden ratio, and from its square. */
const SPREAD = 0x9e3779b97f4a7c15n;
const SHIFT = 0x61c8864680b583ebn;

/**
 * Emits the digest of a row: adds to every lane's digest the value's bits plus `SHIFT`, times an odd number specific to
 * the row. The digest depends on every bit of every value and on its place, not on the order of rows.
 */
export function emitDigest(code: Code, library: Library): void {
  const [values, digests, bytes, row] = code.locals.parameters as [Local, Local, Local, Local];
  const [offset, address] = [code.locals.add("i32"), code.locals.add("i32")];
  const factor = code.locals.add("i64");
  const on = new LaneCode(code, library);
  code.get(row).op("i64.extend_i32_u").i64(1n).op("i64.shl").i64(1n).op("i64.or").i64(SPREAD).op("i64.mul");
  code.tee(factor).op("i64x2.splat");
  const factors = on.takeSame();
  code.get(factor).i64(SHIFT).op("i64.mul").op("i64x2.splat");
  const shifts = on.takeSame();
  code.i32(0).set(offset);
  code.loop((again) => {
    on.scope(() => {
      code.get(values).get(offset).op("i32.add").set(address);
      const products = on.binary("i64x2.mul", on.loadAt(address, 0), factors);
      code.get(digests).get(offset).op("i32.add").set(address);
      on.storeAt(address, 0, on.addBits(on.loadAt(address, 0), on.addBits(products, shifts)));
      return [];
    });
    code.get(offset).i32(STEP_BYTES).op("i32.add").tee(offset).get(bytes).op("i32.lt_u").branchIf(again);
  });
}

/** Digest rows that the parts of a plan's nodes need: parts of one node may run in parallel. */
export function digestRows({ outputs, nodes }: Plan): number {
  return outputs.length * nodes.reduce((most, { partCount }) => Math.max(most, partCount), 1);
}

/** The digest of every output over all rows and lanes so far, in hexadecimal. */
export function readDigests(plan: Plan, kernels: KernelSet, memory: WebAssembly.Memory): string[] {
  const rowLength = plan.rowBytes / BigUint64Array.BYTES_PER_ELEMENT;
  const all = new BigUint64Array(memory.buffer, kernels.digestByteOffset, digestRows(plan) * rowLength);
  return plan.outputs.map((_, output) => {
    const lanes = new BigUint64Array(plan.laneCount);
    for (let row = output; row * rowLength < all.length; row += plan.outputs.length) {
      lanes.forEach((digest, lane) => {
        lanes[lane] = digest + all[row * rowLength + lane]!;
      });
    }
    return createHash("sha256").update(lanes).digest("hex").slice(0, 32);
  });
}
