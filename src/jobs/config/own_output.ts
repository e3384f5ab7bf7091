/** Checks that a job does not take its own results for input, or its input for results. */
import { join, matchesGlob, relative } from "node:path";
import { realPath } from "../../files/real_path.ts";
import type { JobConfig } from "./config.ts";
import { splitPattern } from "./source_pattern.ts";

/** Why source and sink must not lie where they do, links resolved; null if they may. */
export function readsOwnOutput({ source, sink }: Pick<JobConfig, "source" | "sink">): string | null {
  if (source.kind === "duckdb" || sink.kind === "duckdb" || sink.folder === "") return null;
  const { folder, rest } =
    source.pattern === undefined ? { folder: source.folder ?? "", rest: "" } : splitPattern(source.pattern);
  if (folder === "") return null;
  const [from, to] = [realPath(folder), realPath(sink.folder)];
  if (contains(to, from))
    return "its source lies in the folder of its sink: files of input would be taken for results";
  const part = sink.kind === "parquet" ? "date=2024-01-02/part-00000001.parquet" : "part-00000001.arrow";
  const isRead =
    source.pattern === undefined ? contains(from, to) : matchesGlob(join(to, part), join(from, rest));
  return isRead
    ? "its sink lies in the folder of its source: the next run would take results for input"
    : null;
}

function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith("../"));
}
