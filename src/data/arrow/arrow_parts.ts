/** The range of times in each record batch, known after its first reading, so that later readings skip batches. */
import type { Data, RecordBatch } from "apache-arrow";
import type { ArrowFile } from "./arrow_file.ts";

/** Least and greatest value of a time column, in the unit of the file. */
type Span = readonly [least: bigint, greatest: bigint];

/** A function that gives the batches that may hold values from `first` to `last`, file by file. */
export function partsByTime(files: readonly ArrowFile[], timeColumn: number) {
  // Per file that is not a stream, per batch; undefined for a batch that was not read yet.
  const spansOfFiles = files.map(({ batchCount }): (Span | undefined)[] =>
    Array.from({ length: batchCount ?? 0 }),
  );
  return function* around(first: bigint, last: bigint): Generator<RecordBatch> {
    const mayHold = (span: Span | undefined) => span === undefined || (span[0] <= last && first <= span[1]);
    for (const [at, file] of files.entries()) {
      if (file.batchCount === null) {
        yield* file.batches();
        continue;
      }
      const spans = spansOfFiles[at]!;
      const indices = [...spans.keys()].filter((index) => mayHold(spans[index]));
      let position = 0;
      for (const batch of file.batches(indices)) {
        const index = indices[position]!;
        position += 1;
        spans[index] ??= spanOf(batch.data.children[timeColumn]!);
        if (mayHold(spans[index])) yield batch;
      }
    }
  };
}

/** Includes the values behind nulls, which can only widen the range. */
function spanOf({ values, length }: Data): Span {
  const times = (values as BigInt64Array | Int32Array).subarray(0, length);
  if (times.length === 0) return [0n, -1n];
  let [least, greatest] = [times[0]!, times[0]!];
  for (const time of times) {
    if (time < least) least = time;
    else if (time > greatest) greatest = time;
  }
  return [BigInt(least), BigInt(greatest)];
}
