/** The range of times in each record batch, known after its first reading, so that later readings skip batches. */
import type { Data, RecordBatch } from "apache-arrow";
import type { ArrowFile } from "./arrow_file.ts";

/** Least and greatest value of a time column, in the unit of the file. */
type Span = readonly [least: bigint, greatest: bigint];

export class ArrowParts {
  readonly #files: readonly ArrowFile[];
  readonly #timeColumn: number;
  /** Per file that is not a stream, per batch; undefined for a batch that was not read yet. */
  readonly #spans: readonly (Span | undefined)[][];

  constructor(files: readonly ArrowFile[], timeColumn: number) {
    this.#files = files;
    this.#timeColumn = timeColumn;
    this.#spans = files.map(({ batchCount }) => Array.from({ length: batchCount ?? 0 }));
  }

  /** The batches that may hold values from `first` to `last`, file by file. */
  *around(first: bigint, last: bigint): Generator<RecordBatch> {
    for (const [index, file] of this.#files.entries()) {
      if (file.batchCount === null) yield* file.batches();
      else yield* this.#around(file, this.#spans[index]!, first, last);
    }
  }

  *#around(
    file: ArrowFile,
    spans: (Span | undefined)[],
    first: bigint,
    last: bigint,
  ): Generator<RecordBatch> {
    const mayHold = (span: Span | undefined) => span === undefined || (span[0] <= last && first <= span[1]);
    const indices = spans.flatMap((span, index) => (mayHold(span) ? [index] : []));
    let position = 0;
    for (const batch of file.batches(indices)) {
      const index = indices[position]!;
      position += 1;
      spans[index] ??= spanOf(batch.data.children[this.#timeColumn]!);
      if (mayHold(spans[index])) yield batch;
    }
  }
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
