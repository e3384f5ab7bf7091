import type { PanelBlock } from "../../data/panel/panel_source.ts";
import { InternalError } from "../../errors.ts";
import { broughtFields } from "../../evaluation/has_row.ts";
import { type ColumnRows, fillLanes, takeLanes } from "../protocol/column_rows.ts";
import type { ClusterJob, SeriesOrigin } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { PANEL_STAGE, type Rows, rowsOfSlab } from "../protocol/tiles.ts";
import { type FactorColumns, type FactorRows, nullInactive, rowsOfOutput } from "../results/output_block.ts";
import { fieldOf, fillCodes, type RowReader } from "./panel_task.ts";
import type { StageRunner } from "./stage_runner.ts";

/** Bytes of the panel that are read at a time: with few columns, more rows at once are cheaper. */
const READ_BYTES = 16 * 2 ** 20;

/**
 * Runs a whole plan over the output rows of a slab, after the earlier rows that their values depend on. Returns all
 * factors at once, or passes them to `onRows` block by block; a block is valid until the promise of `onRows` resolves.
 */
export async function runSlab(
  job: ClusterJob,
  runner: StageRunner,
  reader: RowReader,
  slab: number,
  factors: FactorColumns,
  onRows: ((rows: FactorRows) => Promise<void>) | null,
): Promise<FactorRows> {
  const wanted = rowsOfOutput(job, rowsOfSlab(job.partition, slab));
  const all = factors.take(onRows === null ? wanted : { first: wanted.first, end: wanted.first });
  if (wanted.first === wanted.end) return all;
  const { laneCount } = job.partition;
  const codes = new ReusedBuffer();
  runner.start(0);
  const reads = seriesRead(job, runner);
  const isOfKind = (kind: Read["kind"]) => [
    ...new Set(reads.flatMap((read) => (read.kind === kind ? [read.name] : []))),
  ];
  const fields = isOfKind("field");
  const groups = isOfKind("group");
  for (const rows of cutRows(job, runner, wanted, fields.length + groups.length)) {
    const block = await reader.read(rows, broughtFields(fields), groups);
    for (const part of cut(rows, runner.plan.blockRows)) {
      const partBlock = rowsOfBlock(block, rows, part, laneCount);
      const isWanted = part.first >= wanted.first;
      const target = !isWanted ? null : onRows === null ? within(all, part, laneCount) : factors.take(part);
      runner.run(part, {
        fill: (_, inputs) => {
          for (const read of reads) fillSeries(inputs.get(read.input)!, read, partBlock, laneCount, codes);
        },
        take: (_, outputs) => {
          if (target !== null) takeFactors(job, outputs, partBlock, target);
        },
      });
      if (target !== null) await onRows?.(target);
    }
  }
  return all;
}

/** A series of the panel that the plan reads, and the name of its input. */
interface Read {
  readonly kind: "field" | "group";
  readonly name: string;
  readonly input: string;
}

function seriesRead(job: ClusterJob, { inputs }: StageRunner): Read[] {
  return inputs.map((input) => ({ ...panelSeries(job, job.stages[0]!.imports[input]), input }));
}

/** @throws InternalError if the origin is not the panel. */
function panelSeries(
  { source: { fields, groups } }: ClusterJob,
  origin: SeriesOrigin | undefined,
): Pick<Read, "kind" | "name"> {
  if (origin?.stage !== PANEL_STAGE) throw new InternalError("an uncut plan that reads another stage");
  const { series } = origin;
  return series < fields.length
    ? { kind: "field", name: fields[series]! }
    : { kind: "group", name: groups[series - fields.length]! };
}

/** Rows to read at a time, in whole blocks of the plan: the warm-up rows, then the wanted ones. */
function* cutRows(
  { warmUpRows }: ClusterJob,
  { plan }: StageRunner,
  { first, end }: Rows,
  seriesCount: number,
): Generator<Rows> {
  const blockBytes =
    plan.blockRows * plan.laneCount * Math.max(1, seriesCount) * Float64Array.BYTES_PER_ELEMENT;
  const rowsMax = plan.blockRows * Math.max(1, Math.floor(READ_BYTES / blockBytes));
  yield* cut({ first: Math.max(0, first - warmUpRows!), end: first }, rowsMax);
  yield* cut({ first, end }, rowsMax);
}

function* cut({ first, end }: Rows, rowsMax: number): Generator<Rows> {
  for (let row = first; row < end; row += rowsMax) yield { first: row, end: Math.min(end, row + rowsMax) };
}

/** Rows of a block, as views. */
function rowsOfBlock(block: PanelBlock, { first }: Rows, part: Rows, laneCount: number): PanelBlock {
  const [from, to] = [part.first - first, part.end - first];
  const cells = [from * laneCount, to * laneCount] as const;
  return {
    rowCount: to - from,
    times: block.times.subarray(from, to),
    fields: new Map([...block.fields].map(([name, values]) => [name, values.subarray(...cells)])),
    groups: new Map(
      [...block.groups].map(([name, group]) => {
        const codes = group.changesOverTime ? group.codes.subarray(...cells) : group.codes;
        return [name, { ...group, codes }];
      }),
    ),
    present: block.present.subarray(...cells),
  };
}

/** @param scratch for the codes of a group, and for `HAS_ROW` */
function fillSeries(
  target: ColumnRows,
  { kind, name }: Read,
  block: PanelBlock,
  laneCount: number,
  scratch: ReusedBuffer,
): void {
  const cells = scratch.doubles(block.rowCount * laneCount);
  const values =
    kind === "group"
      ? fillCodes(cells, block, name)
      : fieldOf(block, name, cells).subarray(0, block.rowCount * laneCount);
  fillLanes(target, { first: 0, count: laneCount }, { values, width: laneCount });
}

/** Some rows of the factors, as views. */
function within({ rows, columns, present }: FactorRows, part: Rows, laneCount: number): FactorRows {
  const cells = [(part.first - rows.first) * laneCount, (part.end - rows.first) * laneCount] as const;
  return {
    rows: part,
    columns: columns.map((column) => column?.subarray(...cells) ?? null),
    present: present.subarray(...cells),
  };
}

function takeFactors(
  job: ClusterJob,
  outputs: readonly ColumnRows[],
  block: PanelBlock,
  target: FactorRows,
): void {
  const { laneCount } = job.partition;
  job.factors.forEach(({ origin }, factor) => {
    const column = target.columns[factor];
    if (!column || !origin) return;
    takeLanes(outputs[origin.series]!, { first: 0, count: laneCount }, { values: column, width: laneCount });
  });
  target.present.set(block.present);
  nullInactive(job, target);
}
