import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { openStreamWriter } from "../../../src/data/write/stream_writer.ts";

const ROWS = 3000;
const columns = {
  time: {
    name: "date",
    type: { kind: "date" },
    values: BigInt64Array.from({ length: ROWS }, (_, i) => BigInt(i)),
  },
  symbols: ["A"],
  factors: ["x"],
} as const;
const block = {
  rowCount: ROWS,
  times: columns.time.values,
  present: new Uint8Array(ROWS).fill(1),
  columns: new Map([["x", new Float64Array(ROWS)]]),
};

/** A file on a disk that is full for one write; like stdout it stays open, and forgets its error. */
function diskFullAt(failing: number) {
  const taken: string[] = [];
  let count = 0;
  const stream = new Writable({
    write(chunk, _, done) {
      if (++count === failing) return done(Object.assign(new Error("no space"), { code: "ENOSPC" }));
      taken.push(String(chunk));
      done();
    },
    destroy(error, done) {
      done(error);
      // What Node does with stdout.
      (this as unknown as { _undestroy(): void })._undestroy();
    },
  });
  stream.on("error", () => {});
  return { stream, taken };
}

test.each([1, 2, 3])("nothing follows write %i, which fails: a result has no hole", async (failing) => {
  const whole = diskFullAt(0);
  const broken = diskFullAt(failing);
  for (const { stream } of [whole, broken]) {
    const writer = openStreamWriter(stream, "csv", columns);
    await writer.append(block);
    await writer.commit();
  }
  expect(whole.taken).toHaveLength(4);
  expect(broken.taken).toEqual(whole.taken.slice(0, failing - 1));
});
