/** Reads the table of groups of a job for its symbols. */
import { readGroupTable } from "../../data/side_tables/group_table.ts";
import type { GroupColumn } from "../../panel.ts";
import type { JobConfig } from "../config/config.ts";
import { digestOf, type InputColumns } from "./job_programs.ts";

/** Groups by name, one code per symbol; empty without a table. */
export async function readJobGroups(
  job: JobConfig,
  { fieldNames, groupNames, time }: InputColumns,
  symbols: readonly string[],
): Promise<Map<string, GroupColumn>> {
  if (job.groups === undefined) return new Map();
  const panel = { symbols, fieldNames, groupNames, time: { ...time, values: new BigInt64Array(0) } };
  const groups = await readGroupTable(
    job.groups,
    panel,
    `the input of job ${job.name}`,
    job.source.symbolColumn,
  );
  return new Map(groups.map((group) => [group.name, group]));
}

/** Equal for equal labels of the same symbols; null without groups. */
export function groupsDigest(groups: ReadonlyMap<string, GroupColumn>): string | null {
  if (groups.size === 0) return null;
  return digestOf(
    [...groups.values()].map(({ name, labels, codes }) => [
      name,
      Array.from(codes, (code) => labels[code] ?? null),
    ]),
  );
}
