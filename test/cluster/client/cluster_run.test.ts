import { expect, test } from "vitest";
import { builtInRegistry } from "../../../operators/index.ts";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { ClusterRun } from "../../../src/cluster/client/cluster_run.ts";
import { compile } from "../../../src/compile.ts";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import { DEFAULT_COSTS } from "../../../src/plan/cost_model.ts";
import { inProcessHost } from "../support/in_process_bridge.ts";

test("an abort while the tasks are being sent is heard", async () => {
  const controller = new AbortController();
  const reason = new Error("so soon");
  const source = panelSource(syntheticPanel({ lanes: 3, rows: 20, nullShare: 0 }));
  const run = await ClusterRun.open(
    inProcessHost({ onSubmit: () => controller.abort(reason) }),
    {
      program: compile("x = rank(close)"),
      registry: builtInRegistry,
      source,
      path: null,
      sourceOptions: {},
      options: {},
      costs: DEFAULT_COSTS,
      threadCount: 1,
      store: null,
      code: "code",
      dataset: null,
      cut: "auto",
      partition: {},
    },
    { signal: controller.signal },
  );
  await expect(Array.fromAsync(run.blocks())).rejects.toBe(reason);
});
