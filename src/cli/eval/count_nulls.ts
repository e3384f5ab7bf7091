import type { NullReport } from "../../reasons/null_report.ts";
import type { Opened } from "../opening/with_program.ts";

/** Where the nulls of a call's factors come from: a pass over the bars in threads of its own. */
export async function countNulls({ program, source, specs, steps, callOf }: Opened): Promise<NullReport> {
  const { Engine } = await import("../../engine.ts");
  return await steps.run("count nulls", async () => {
    await using engine = await Engine.start(specs.engine);
    return await engine.nulls(program, source, callOf(program));
  });
}
