import type { GroupColumn } from "../../panel.ts";
import type { BlockRequest, PanelBlock, PanelSource, RowRange } from "./panel_source.ts";

/** A range of rows of a source, and all lanes or one. */
export interface PanelPart {
  readonly rows: RowRange;
  /** Null: all. */
  readonly lane: number | null;
}

/** A part of a source as a source: only its rows are read, and of its lanes only what is asked for is passed on. */
export function partOfSource(source: PanelSource, { rows, lane }: PanelPart): PanelSource {
  const { time, symbols, fieldNames, groupNames, seriesNames = [] } = source;
  return {
    fieldNames,
    groupNames,
    seriesNames,
    rowCount: rows.end - rows.first,
    laneCount: lane === null ? source.laneCount : 1,
    symbols: lane === null ? symbols : [symbols[lane]!],
    time: { ...time, values: time.values.subarray(rows.first, rows.end) },
    blocks: (request) => blocksOfPart(source, request, { rows, lane }),
    close: async () => await source.close(),
  };
}

async function* blocksOfPart(
  source: PanelSource,
  request: BlockRequest,
  { rows, lane }: PanelPart,
): AsyncGenerator<PanelBlock> {
  const { first, end } = request.rows ?? { first: 0, end: rows.end - rows.first };
  const wanted = { ...request, rows: { first: rows.first + first, end: rows.first + end } };
  for await (const block of source.blocks(wanted))
    yield lane === null ? block : laneOfBlock(block, lane, source.laneCount);
}

function laneOfBlock(block: PanelBlock, lane: number, laneCount: number): PanelBlock {
  const { rowCount, fields, groups, present } = block;
  const cells = Array.from({ length: rowCount }, (_, row) => row * laneCount + lane);
  const floats = (values: Float64Array) => {
    const column = new Float64Array(new SharedArrayBuffer(rowCount * Float64Array.BYTES_PER_ELEMENT));
    column.set(cells.map((cell) => values[cell]!));
    return column;
  };
  const group = (column: GroupColumn): GroupColumn => {
    const codes = column.changesOverTime ? cells.map((cell) => column.codes[cell]!) : [column.codes[lane]!];
    const shared = new Int32Array(new SharedArrayBuffer(codes.length * Int32Array.BYTES_PER_ELEMENT));
    shared.set(codes);
    return { ...column, codes: shared };
  };
  return {
    ...block,
    fields: new Map([...fields].map(([name, values]) => [name, floats(values)])),
    groups: new Map([...groups].map(([name, column]) => [name, group(column)])),
    present: Uint8Array.from(cells, (cell) => present[cell]!),
  };
}
