/** What DuckDB writes, by format: a file is made of pieces, because one COPY would need all rows at once. */
import { open } from "node:fs/promises";
import type { OutputFormat } from "./output_format.ts";
import { GzipJoiner, ParquetJoiner, type PieceJoiner, TextJoiner } from "./piece_joiner.ts";

export type CopyFormat = Exclude<OutputFormat, "arrow">;

interface CopySettings {
  readonly batchesPerPiece: number;
  /** Values are written as text, which states the zone of a time. */
  readonly isText: boolean;
  /** The options of COPY. */
  options(isFirst: boolean): string;
  openJoiner(path: string): Promise<PieceJoiner>;
}

/** More than the rows of a piece, so that DuckDB does not split it. */
const ROW_GROUP_ROWS = 1024 * 1024;

const TEXT = {
  batchesPerPiece: 1,
  isText: true,
  options: (isFirst: boolean) => `FORMAT csv, HEADER ${isFirst}, COMPRESSION none`,
};

export const COPY_FORMATS: Readonly<Record<CopyFormat, CopySettings>> = {
  parquet: {
    // A piece is a row group; larger ones are read faster.
    batchesPerPiece: 2,
    isText: false,
    // Dictionaries would store -0 as 0.
    options: () =>
      `FORMAT parquet, COMPRESSION zstd, DICTIONARY_SIZE_LIMIT 0, ROW_GROUP_SIZE ${ROW_GROUP_ROWS}`,
    openJoiner: async (path) => new ParquetJoiner(await open(path, "w")),
  },
  csv: { ...TEXT, openJoiner: async (path) => new TextJoiner(await open(path, "w")) },
  "csv.gz": { ...TEXT, openJoiner: async (path) => new GzipJoiner(path) },
};
