/** The factors of a task, from its input to its result. */
import { oneStrip } from "../protocol/column_rows.ts";
import { lanesOfShard, type PieceInput, pieceAt } from "../protocol/pieces.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { lastPiece, PANEL_STAGE, type Rows, rowsOfBlock } from "../protocol/tiles.ts";

/** Factors over consecutive rows of the panel. */
export interface FactorRows {
  readonly rows: Rows;
  /** Per factor of the job `[rows x lanes]`, NaN for null; null if the factor is wanted in no row. */
  readonly columns: readonly (Float64Array | null)[];
  /** `[rows x lanes]`, 1 where the input has a row. */
  readonly present: Uint8Array;
}

/** The output rows among `rows`; maybe none. */
export function rowsOfOutput({ outputRows: [from, to] }: ClusterJob, { first, end }: Rows): Rows {
  const start = Math.max(first, from);
  return { first: start, end: Math.max(start, Math.min(end, to)) };
}

/** Columns for the factors of a job, in memory that the next task reuses. */
export class FactorColumns {
  readonly #job: ClusterJob;
  readonly #columnBuffers: readonly (ReusedBuffer | null)[];
  readonly #presentBuffer = new ReusedBuffer();

  constructor(job: ClusterJob) {
    this.#job = job;
    this.#columnBuffers = job.factors.map(({ origin }) => (origin === null ? null : new ReusedBuffer()));
  }

  /** Columns for these rows, with undefined values. */
  take(rows: Rows): FactorRows {
    const cells = (rows.end - rows.first) * this.#job.partition.laneCount;
    return {
      rows,
      columns: this.#columnBuffers.map((buffer) => buffer?.doubles(cells) ?? null),
      present: this.#presentBuffer.bytes(cells),
    };
  }
}

/** The factors of a block in the rows that are output. */
export function gatherFactors(
  job: ClusterJob,
  { slab, block }: { readonly slab: number; readonly block: number },
  input: PieceInput,
  target: FactorColumns,
): FactorRows {
  const { laneCount, shardCount } = job.partition;
  const ofBlock = rowsOfBlock(job.partition, slab, block);
  const rows = rowsOfOutput(job, ofBlock);
  const rowCount = rows.end - rows.first;
  const taken = target.take(rows);
  if (rowCount === 0) return taken;
  const within = { first: rows.first - ofBlock.first, end: rows.end - ofBlock.first };
  for (const [stage, factors] of factorsByStage(job)) {
    const reads = [...factors].map(([series, [first]]) => {
      return { series, target: oneStrip(taken.columns[first!]!, laneCount) };
    });
    reads.sort((a, b) => a.series - b.series);
    for (let shard = 0; shard < shardCount; shard++) {
      const piece = pieceAt(job, stage, slab, block, shard);
      input.read(piece, within, reads, lanesOfShard(job.partition, shard));
    }
    for (const [first, ...others] of factors.values()) {
      for (const other of others) taken.columns[other]!.set(taken.columns[first!]!);
    }
  }
  const index = lastPiece(job, PANEL_STAGE, slab);
  const present = input.presence({ stage: PANEL_STAGE, slab, part: block, index });
  const skipped = (rows.first - ofBlock.first) * laneCount;
  taken.present.set(present.subarray(skipped, skipped + taken.present.length));
  nullInactive(job, taken);
  return taken;
}

/** By stage and series, the factors with its values. */
function factorsByStage({ factors }: ClusterJob): Map<number, Map<number, number[]>> {
  const stages = new Map<number, Map<number, number[]>>();
  factors.forEach(({ origin }, factor) => {
    if (origin === null) return;
    const series = stages.get(origin.stage) ?? new Map<number, number[]>();
    stages.set(origin.stage, series);
    series.set(origin.series, [...(series.get(origin.series) ?? []), factor]);
  });
  return stages;
}

/** Sets factors to null in rows in which they are not wanted. */
export function nullInactive({ factors, partition }: ClusterJob, { rows, columns }: FactorRows): void {
  const { laneCount } = partition;
  factors.forEach(({ unwantedRows }, factor) => {
    const column = columns[factor];
    if (!column) return;
    for (let pair = 0; pair < unwantedRows.length; pair += 2) {
      const first = Math.max(unwantedRows[pair]!, rows.first);
      const end = Math.min(unwantedRows[pair + 1]!, rows.end);
      if (first < end)
        column.fill(Number.NaN, (first - rows.first) * laneCount, (end - rows.first) * laneCount);
    }
  });
}

/** The result as buffers: the columns that are not null, in order, then presence. */
export function resultBuffers({ columns, present }: FactorRows): Uint8Array[] {
  const buffers = columns.flatMap((column) =>
    column === null ? [] : [new Uint8Array(column.buffer, column.byteOffset, column.byteLength)],
  );
  return [...buffers, present];
}
