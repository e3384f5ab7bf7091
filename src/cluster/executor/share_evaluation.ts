import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInRegistry } from "../../../operators/index.ts";
import type { EvaluableProgram } from "../../compile.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { FactorStream } from "../../evaluation/factor_stream.ts";
import { unpackProgram } from "../protocol/packed_program.ts";
import type { ClusterJob } from "../protocol/protocol.ts";

/** The evaluations of a job's shares: each is compiled for its first task and used again for later ones. */
export class ShareEvaluations {
  readonly #job: ClusterJob;
  readonly #host: EngineHost;
  readonly #source: PanelSource;
  readonly #program: EvaluableProgram;
  #open: { readonly share: number; readonly stream: FactorStream } | null = null;

  /** @throws UsageError E510 if operators of users cannot be loaded here. */
  constructor(job: ClusterJob, host: EngineHost, source: PanelSource) {
    this.#job = job;
    this.#host = host;
    this.#source = source;
    this.#program = unpackProgram(job.program, builtInRegistry);
  }

  /**
   * The values of a share in panel rows `[first, end)`, from the rows that they depend on. A block is valid until the next
   * one.
   *
   * @throws as `FactorStream.open` and its rows.
   */
  async *rows(share: number, first: number, end: number): AsyncGenerator<FactorBlock> {
    const { warmUpRows } = this.#job.cut.shares[share]!;
    const start = warmUpRows === null ? 0 : Math.max(0, first - warmUpRows);
    const stream = await this.#streamOf(share);
    let isWhole = false;
    try {
      yield* stream.rows({ start, first, end });
      isWhole = true;
    } finally {
      // What failed on its way is not used again.
      if (!isWhole) await this.close();
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.stream.close();
  }

  /** One share at a time: an evaluation may take all memory of this process. */
  async #streamOf(share: number): Promise<FactorStream> {
    if (this.#open?.share === share) return this.#open.stream;
    await this.close();
    const { cut, params, paramsByTime, restarts, blockRows, kernel } = this.#job;
    const folder = paramsByTime === null ? null : await mkdtemp(join(tmpdir(), "factorloom-params-"));
    try {
      const table = folder === null ? undefined : join(folder, paramsByTime!.name);
      if (table !== undefined) await writeFile(table, paramsByTime!.bytes);
      const stream = await FactorStream.open(
        this.#host,
        builtInRegistry.with(this.#program.operators),
        this.#program,
        this.#source,
        {
          params,
          select: cut.shares[share]!.factors,
          ...(table !== undefined && { paramsByTime: table }),
          ...(restarts !== null && { restarts }),
          ...(blockRows !== null && { blockRows }),
          ...(kernel !== null && { kernel }),
        },
      );
      this.#open = { share, stream };
      return stream;
    } finally {
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    }
  }
}
