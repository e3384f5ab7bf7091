import { builtInRegistry } from "../../../operators/index.ts";
import {
  ClusterRun,
  type ClusterRunOptions,
  type RunRequest,
} from "../../../src/cluster/client/cluster_run.ts";
import { factorTableOfBlocks } from "../../../src/data/factors/factor_table.ts";
import type { PanelSource } from "../../../src/data/panel/panel_source.ts";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { DEFAULT_COSTS } from "../../../src/plan/cost_model.ts";
import { type InProcessOptions, inProcessHost } from "./in_process_bridge.ts";

/** What a test says of a run; the client brings the panel unless there is a path. */
export type InProcessRequest = Pick<RunRequest, "program" | "source"> & Partial<RunRequest>;

/** A run whose workers are this process. */
export async function openInProcess(
  engine: EngineHost,
  request: InProcessRequest,
  workers: InProcessOptions = {},
  options: ClusterRunOptions = {},
): Promise<ClusterRun> {
  const usual = {
    registry: builtInRegistry,
    path: null,
    sourceOptions: {},
    options: {},
    costs: DEFAULT_COSTS,
    workers: [{ threads: 2, memoryLimitBytes: 0 }],
    code: "code",
    hang: null,
    dataset: null,
  };
  return await ClusterRun.open(inProcessHost(engine, workers), { ...usual, ...request }, options);
}

/** The table of a run whose results go back to the client. */
export async function tableOfRun(run: ClusterRun, { time, symbols }: PanelSource, keepInfinite = false) {
  const factors = run.wanted.factors.map(({ name }) => name);
  return (await factorTableOfBlocks({ time, symbols, factors }, run.blocks(), { keepInfinite })).table;
}
