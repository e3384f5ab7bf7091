import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Table } from "apache-arrow";
import type { OpenRows } from "../../src/cluster/executor/panel_task.ts";
import { type TaskAnswer, TaskRunner } from "../../src/cluster/executor/task_runner.ts";
import {
  type ClusterJob,
  type ClusterTask,
  type JobFactor,
  type JobStage,
  type Partition,
  PROTOCOL_VERSION,
  type SeriesOrigin,
} from "../../src/cluster/protocol/protocol.ts";
import {
  blockCount,
  PANEL_STAGE,
  type Piece,
  piecesRead,
  rowsOfSlab,
  slabCount,
  stagePartCount,
} from "../../src/cluster/protocol/tiles.ts";
import { ResultReader } from "../../src/cluster/results/result_reader.ts";
import { type CompileOptions, compile, finalDag } from "../../src/compile.ts";
import { factorTable } from "../../src/data/factors/factor_table.ts";
import { kernelOperators } from "../../src/operator/definition.ts";
import { packOperator } from "../../src/operator/transfer.ts";
import type { GroupColumn, Panel } from "../../src/panel.ts";
import { formPlan } from "../../src/plan/form.ts";

/** A stage as text: its factors are its exports, in order. */
export interface StageText {
  readonly kind: "lanes" | "rows";
  readonly text: string;
  /** Where names come from that are no columns of the panel. */
  readonly imports?: Readonly<Record<string, SeriesOrigin>>;
  readonly hasState?: boolean;
  readonly blockRows?: number;
}

export interface JobText extends Partial<Omit<ClusterJob, "stages" | "partition" | "operators">> {
  readonly stages: readonly StageText[];
  readonly partition: Partial<Partition>;
  readonly operators?: CompileOptions["operators"];
}

/** A job made by hand: series of the panel are all its columns. */
export function jobOf(panel: Panel, { stages, operators = [], ...rest }: JobText): ClusterJob {
  const { laneCount, rowCount, time, symbols } = panel;
  const fields = [...panel.fields.keys()];
  const groups = [...panel.groups.keys()];
  const shardLanes = rest.partition.shardLanes ?? laneCount;
  const partition: Partition = {
    laneCount,
    shardLanes,
    shardCount: Math.ceil(laneCount / shardLanes),
    slabRows: [0, rowCount],
    blockRows: 16,
    ...rest.partition,
  };
  const ofPanel = Object.fromEntries(
    [...fields, ...groups].map((name, series) => [name, { stage: PANEL_STAGE, series }]),
  );
  const formed = stages.map(({ kind, text, imports = {}, hasState, blockRows = 5 }): JobStage => {
    const names = [...fields, ...Object.keys(imports)];
    const program = compile(text, { fields: names, groups, operators });
    const lanes = kind === "lanes" ? shardLanes : laneCount;
    const shape = { laneCount: lanes, blockRows, executorCount: 1 };
    const plan = formPlan(finalDag(program), shape);
    const read = plan.columns.map(({ source }) => ("name" in source ? source.name : ""));
    const origins = Object.entries({ ...ofPanel, ...imports }).filter(([name]) => read.includes(name));
    return {
      kind,
      plan,
      imports: Object.fromEntries(origins),
      hasState: hasState ?? kind === "lanes",
    };
  });
  const last = formed.length - 1;
  const factors = formed[last]!.plan.outputs.map(
    ({ name }, series): JobFactor => ({ name, origin: { stage: last, series }, unwantedRows: [] }),
  );
  return {
    protocol: PROTOCOL_VERSION,
    exchange: "memory",
    folder: null,
    identity: { token: null, seal: "", inputs: [], modules: {} },
    source: { path: import.meta.filename, options: {}, fields, groups, time, symbols },
    warmUpRows: null,
    params: {},
    reference: false,
    factors,
    outputRows: [0, rowCount],
    dataset: null,
    ...rest,
    partition,
    stages: formed,
    operators: kernelOperators(operators).map(packOperator),
  };
}

/** The panel in memory as what `PanelRows` opens: arrays are used again by the next reading, as there. */
export function rowsOf(panel: Panel): OpenRows {
  return async () => ({
    read: async ({ first, end }, fields, groups) => {
      const [from, to] = [first * panel.laneCount, end * panel.laneCount];
      const group = (name: string): [string, GroupColumn] => {
        const { codes, ...column } = panel.groups.get(name)!;
        return [name, { ...column, codes: column.changesOverTime ? codes.subarray(from, to) : codes }];
      };
      return {
        rowCount: end - first,
        times: panel.time.values.subarray(first, end),
        fields: new Map(fields.map((name) => [name, panel.fields.get(name)!.subarray(from, to)])),
        groups: new Map(groups.map(group)),
        present: panel.present.subarray(from, to),
      };
    },
    close: async () => {},
  });
}

export function runnerOf(job: ClusterJob, panel: Panel): TaskRunner {
  return new TaskRunner(job, rowsOf(panel));
}

/** All tasks of a slab in an order in which they can run, without outputs. */
export function stageTasks(job: ClusterJob, slab: number): ClusterTask[] {
  const blocks = Array.from({ length: blockCount(job.partition, slab) }, (_, block) => block);
  return [
    ...blocks.map((block): ClusterTask => ({ kind: "read", slab, block })),
    ...job.stages.flatMap((_, stage) =>
      Array.from(
        { length: stagePartCount(job, stage, slab) },
        (__, part): ClusterTask => ({ kind: "stage", stage, slab, part }),
      ),
    ),
  ];
}

export function outputTasks(job: ClusterJob, slab: number): ClusterTask[] {
  const count = blockCount(job.partition, slab);
  return Array.from({ length: count }, (_, block) => ({ kind: "output", slab, block }));
}

export function slabsOf(job: ClusterJob): number[] {
  return Array.from({ length: slabCount(job.partition) }, (_, slab) => slab);
}

/** Runs everything through a store, each task where `pick` says; gives the result of each output. */
export async function runStored(
  job: ClusterJob,
  pick: (task: ClusterTask, index: number) => TaskRunner,
): Promise<Uint8Array[][]> {
  const results: Uint8Array[][] = [];
  let index = 0;
  for (const slab of slabsOf(job)) {
    for (const task of stageTasks(job, slab)) await pick(task, index++).run(task);
    for (const task of outputTasks(job, slab)) {
      const answer = await pick(task, index++).run(task);
      results.push(await takenResult(job, task, answer));
    }
  }
  return results;
}

/** What the client takes of the answer to an output or a slab, copied: columns that have values, then presence. */
export async function takenResult(
  job: ClusterJob,
  task: ClusterTask,
  { buffers }: Pick<TaskAnswer, "buffers">,
): Promise<Uint8Array[]> {
  if (task.kind !== "slab") return buffers.map((buffer) => buffer.slice());
  const rows = rowsOfSlab(job.partition, task.slab);
  const chunks: Uint8Array[][] = [];
  for await (const { columns, present } of new ResultReader(job).read(task.slab, 0, rows, buffers)) {
    const values = [...columns.values()].filter((column) => column !== null);
    chunks.push([
      ...values.map(
        (column) => new Uint8Array(Buffer.from(column.buffer, column.byteOffset, column.byteLength)),
      ),
      present.slice(),
    ]);
  }
  const width = 1 + job.factors.filter(({ origin }) => origin !== null).length;
  return Array.from(
    { length: width },
    (_, index) => new Uint8Array(Buffer.concat(chunks.map((chunk) => chunk[index]!))),
  );
}

/** Runs everything with tiles as values; `see` is shown each piece before others read it. */
export async function runHeld(
  job: ClusterJob,
  pick: (task: ClusterTask, index: number) => TaskRunner,
  see: (piece: Piece, bytes: Uint8Array) => void = () => {},
): Promise<Uint8Array[][]> {
  const pieces = new Map<string, Uint8Array>();
  const results: Uint8Array[][] = [];
  let index = 0;
  const run = async (task: ClusterTask) => {
    const buffers = piecesRead(job, task).map((piece) => pieces.get(keyOf(piece))!);
    return copied(await pick(task, index++).run(task, buffers));
  };
  for (const slab of slabsOf(job)) {
    for (const task of stageTasks(job, slab)) {
      const place = placeOf(task);
      (await run(task)).forEach((bytes, piece) => {
        see({ ...place, index: piece }, bytes);
        pieces.set(keyOf({ ...place, index: piece }), bytes);
      });
    }
    for (const task of outputTasks(job, slab)) results.push(await run(task));
  }
  return results;
}

function placeOf(task: ClusterTask): Omit<Piece, "index"> {
  if (task.kind === "read") return { stage: PANEL_STAGE, slab: task.slab, part: task.block };
  if (task.kind === "stage") return { stage: task.stage, slab: task.slab, part: task.part };
  throw new Error(`${task.kind} leaves no tile`);
}

const keyOf = ({ stage, slab, part, index }: Piece) => [stage, slab, part, index].join("/");

export function copied({ buffers }: TaskAnswer): Uint8Array[] {
  return buffers.map((buffer) => buffer.slice());
}

/** The table that outputs of blocks (or of slabs) are together. */
export async function tableOf(
  job: ClusterJob,
  panel: Panel,
  results: readonly Uint8Array[][],
): Promise<Table> {
  const [first, end] = job.outputRows;
  const { laneCount } = panel;
  const own = job.factors.filter(({ origin }) => origin !== null);
  const joined = own.map((_, index) => doublesOf(results.map((buffers) => buffers[index]!)));
  const columns = job.factors.map((factor) => ({
    name: factor.name,
    values: factor.origin === null ? null : joined[own.indexOf(factor)]!,
  }));
  const present = new Uint8Array(Buffer.concat(results.map((buffers) => buffers.at(-1)!)));
  const rows = {
    ...panel,
    rowCount: end - first,
    time: { ...panel.time, values: panel.time.values.subarray(first, end) },
    present,
  };
  if (present.length !== rows.rowCount * laneCount) throw new Error("presence of other rows");
  return (await factorTable(rows, columns, {})).table;
}

function doublesOf(buffers: readonly Uint8Array[]): Float64Array {
  const bytes = new Uint8Array(Buffer.concat(buffers));
  return new Float64Array(bytes.buffer, 0, bytes.length / 8);
}

/** Every column of a table as text that tells all bits and nulls. */
export function bitsOf(table: Table): Record<string, string> {
  return Object.fromEntries(
    table.schema.fields.map(({ name }) => {
      const cells = [...table.getChild(name)!] as unknown[];
      return [name, cells.map((cell) => (Object.is(cell, -0) ? "-0" : String(cell))).join(" ")];
    }),
  );
}

/** Numbers in [0, 1) from a seed: the same on every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Prices that wander, with gaps and lines that are not there. */
export function wanderingPanel(rowCount: number, laneCount: number, seed = 7): Panel {
  const random = seeded(seed);
  const cells = rowCount * laneCount;
  const column = (next: (cell: number) => number) => {
    const values = new Float64Array(new SharedArrayBuffer(8 * cells));
    for (let cell = 0; cell < cells; cell++) values[cell] = random() < 0.04 ? Number.NaN : next(cell);
    return values;
  };
  const close = column(() => 100);
  for (let cell = laneCount; cell < cells; cell++) {
    const before = close[cell - laneCount]!;
    const step = 1 + (random() - 0.5) / 20;
    if (!Number.isNaN(close[cell]!)) close[cell] = (Number.isNaN(before) ? 100 : before) * step;
  }
  const volume = column(() => Math.floor(1e6 * random()));
  const codes = new Int32Array(new SharedArrayBuffer(4 * cells));
  for (let cell = 0; cell < cells; cell++) codes[cell] = random() < 0.05 ? -1 : Math.floor(3 * random());
  const sector = { name: "sector", labels: ["a", "b", "c"], codes, changesOverTime: true };
  const present = Uint8Array.from({ length: cells }, () => (random() < 0.03 ? 0 : 1));
  for (const values of [close, volume])
    for (let cell = 0; cell < cells; cell++) if (present[cell] === 0) values[cell] = Number.NaN;
  return {
    rowCount,
    laneCount,
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    },
    symbols: Array.from({ length: laneCount }, (_, lane) => `S${String(lane).padStart(3, "0")}`),
    fields: new Map([
      ["close", close],
      ["volume", volume],
    ]),
    groups: new Map([["sector", sector]]),
    present,
  };
}

/** Folders that are gone when the test is. */
export class Folders implements Disposable {
  readonly #made: string[] = [];

  make(): string {
    const folder = mkdtempSync(join(tmpdir(), "tiles-"));
    this.#made.push(folder);
    return folder;
  }

  [Symbol.dispose](): void {
    for (const folder of this.#made) rmSync(folder, { recursive: true, force: true });
  }
}
