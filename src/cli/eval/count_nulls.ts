import type { Program } from "../../compile.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { Engine } from "../../engine.ts";
import type { NullReport } from "../../reasons/null_report.ts";
import { interruptionSignal } from "../terminal/interruption.ts";
import type { Steps } from "../trace/steps.ts";
import { type CallOptions, pick, typedParams } from "./call_options.ts";

/** Where the nulls of a call's factors come from: a pass over the bars in threads of its own. */
export async function countNulls(
  start: typeof Engine.start,
  program: Program,
  source: PanelSource,
  options: CallOptions & { readonly keepInf?: true },
  steps: Steps,
): Promise<NullReport> {
  return await steps.run("count nulls", async () => {
    await using engine = await start(pick(options, ["threads", "memoryLimit"]));
    return await engine.nulls(program, source, {
      ...pick(options, ["select", "from", "to", "paramsByTime"]),
      params: typedParams(program, options.param ?? {}),
      keepInfinite: options.keepInf === true,
      signal: interruptionSignal(),
      onProgress: (rowsDone, rowCount) => steps.show(rowsDone / rowCount),
    });
  });
}
