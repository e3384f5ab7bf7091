import { checkOutputPath } from "../../data/write/output_format.ts";
import { UsageError } from "../../errors.ts";
import { checkOutputSpares } from "../../files/output_overlap.ts";
import { realPath } from "../../files/real_path.ts";
import { checkWritable } from "../../files/writing.ts";
import { STANDARD } from "../terminal/standard_input.ts";

/** Whether the path names a folder, whose Parquet files workers of a cluster write. */
export const isFolderName = (path: string): boolean => path.endsWith("/");

/** The files that an evaluation reads and writes. */
interface OutputOptions {
  readonly data: string;
  readonly groups?: string;
  readonly series?: string;
  readonly paramsByTime?: string;
  readonly out?: string;
  readonly trace?: string;
  readonly report?: string;
}

/**
 * Checks before anything is computed that outputs can be written and replace neither an input nor each other.
 *
 * @throws UsageError E514, E544.
 */
export async function checkOutputs(
  file: string | undefined,
  { out, trace, report, data, groups, series, paramsByTime }: OutputOptions,
): Promise<void> {
  const inputs = [file, data === STANDARD ? undefined : data, groups, series, paramsByTime];
  if (out !== undefined && out !== STANDARD) {
    await checkOutputSpares("--out", out, inputs);
    if (!isFolderName(out)) await checkOutputPath(out);
  }
  const earlier = new Map<string, string>();
  if (out !== undefined) earlier.set(realPath(out), "the result");
  for (const [name, path] of Object.entries({ trace, report })) {
    if (path === undefined) continue;
    await checkOutputSpares(`--${name}`, path, inputs);
    const what = earlier.get(realPath(path));
    if (what !== undefined)
      throw new UsageError("E514", `--${name} ${path} would overwrite ${what}`, "give it a name of its own");
    earlier.set(realPath(path), `the ${name}`);
    await checkWritable(path);
  }
}
