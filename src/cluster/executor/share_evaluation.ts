import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { builtInRegistry } from "../../../operators/index.ts";
import type { EvaluableProgram } from "../../compile.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import { InternalError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { FactorStream } from "../../evaluation/factor_stream.ts";
import { moduleDigest } from "../../operator/operator_digest.ts";
import { operatorsDiffer } from "../protocol/errors.ts";
import { unpackProgram } from "../protocol/packed_program.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { InputCheck } from "./input_digest.ts";

/** The evaluations of a job's shares. The open panel, and the evaluation of the last share, are kept for later tasks. */
export class ShareEvaluations {
  readonly #job: ClusterJob;
  readonly #host: EngineHost;
  readonly #sourceLimitBytes: number;
  readonly #inputs: InputCheck;
  #opened: { readonly source: PanelSource; readonly program: EvaluableProgram } | null = null;
  #last: { readonly share: number; readonly stream: FactorStream } | null = null;

  /** @param sourceLimitBytes memory for reading the panel */
  constructor(job: ClusterJob, host: EngineHost, sourceLimitBytes: number) {
    this.#job = job;
    this.#host = host;
    this.#sourceLimitBytes = sourceLimitBytes;
    this.#inputs = new InputCheck(job.identity.inputs);
  }

  /**
   * The values of a share in panel rows `[first, end)`, from the rows that they depend on. A block is valid until the next
   * one. Checks the inputs before and after: values of other files are not used.
   *
   * @param panel the file of a panel that the client brings, as this host has it
   * @throws DataError E615 for other inputs; UsageError E614 for other operators than the client's, E510 for those that
   *   cannot be loaded here; as `openPanelRows`, `FactorStream.open` and its rows.
   */
  async *rows(share: number, first: number, end: number, panel: string | null): AsyncGenerator<FactorBlock> {
    await this.#inputs.check();
    const { warmUpRows } = this.#job.cut.shares[share]!;
    const start = warmUpRows === null ? 0 : Math.max(0, first - warmUpRows);
    let isWhole = false;
    try {
      yield* (await this.#streamOf(share, panel)).rows({ start, first, end });
      isWhole = true;
    } catch (error) {
      // Bars that others replace look damaged to whoever reads them.
      await this.#inputs.check();
      throw error;
    } finally {
      // What failed on its way is not used again.
      if (!isWhole) await this.#closeLast();
    }
    await this.#inputs.check();
  }

  async close(): Promise<void> {
    await this.#closeLast();
    const opened = this.#opened;
    this.#opened = null;
    await opened?.source.close();
  }

  async #closeLast(): Promise<void> {
    const last = this.#last;
    this.#last = null;
    await last?.stream.close();
  }

  /** One share at a time: an evaluation may take all memory of this process. */
  async #streamOf(share: number, panel: string | null): Promise<FactorStream> {
    if (this.#last?.share === share) return this.#last.stream;
    await this.#closeLast();
    this.#opened ??= { program: loadProgram(this.#job), source: await this.#openSource(panel) };
    const { program, source } = this.#opened;
    const { cut, options, paramsByTime } = this.#job;
    const folder = paramsByTime === null ? null : await mkdtemp(join(tmpdir(), "factorloom-params-"));
    try {
      const table = folder === null ? undefined : join(folder, paramsByTime!.name);
      if (table !== undefined) await writeFile(table, paramsByTime!.bytes);
      const registry = builtInRegistry.with(program.operators);
      const stream = await FactorStream.open(this.#host, registry, program, source, {
        ...options,
        select: cut.shares[share]!.factors,
        ...(table !== undefined && { paramsByTime: table }),
      });
      this.#last = { share, stream };
      return stream;
    } finally {
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    }
  }

  /** The panel as this host sees it. DuckDB is slow to load: only executors that read a panel need it. */
  async #openSource(panel: string | null): Promise<PanelSource> {
    const { path, isBrought, options, time, symbols, fields, groups, seriesNames } = this.#job.source;
    if (!isBrought) {
      const { openPanelRows } = await import("../../data/source/panel_rows.ts");
      return await openPanelRows(
        path,
        { ...options, memoryLimitBytes: this.#sourceLimitBytes },
        { time, symbols },
      );
    }
    if (panel === null) throw new InternalError("a task without the panel that the client brings");
    const { openPanelFile } = await import("../../data/panel_file/panel_file_rows.ts");
    return openPanelFile(panel, { time, symbols, fieldNames: fields, groupNames: groups, seriesNames });
  }
}

/** Loads a program whose operators are those of the client. */
function loadProgram({ identity, program }: ClusterJob): EvaluableProgram {
  for (const [module, digest] of Object.entries(identity.modules))
    if (digestSeen(module) !== digest) throw operatorsDiffer(module, hostname());
  return unpackProgram(program, builtInRegistry);
}

/** Null if the module cannot be read. */
function digestSeen(module: string): string | null {
  try {
    return moduleDigest(module);
  } catch {
    return null;
  }
}
