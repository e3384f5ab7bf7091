/** The columns of its input that a job reads. */
import { broughtFields } from "../../evaluation/has_row.ts";
import type { JobConfig } from "../config/config.ts";
import type { FileColumns } from "../input/new_inputs.ts";
import type { QueryOptions } from "../input/query_inputs.ts";
import type { JobHistory } from "../journal/history.ts";
import { readJobGroups } from "./job_groups.ts";
import { compileJob, type FormulaTexts, type InputColumns, type JobProgram } from "./job_programs.ts";

/** The columns that formulas read and the job's table of groups lacks, with the programs. @throws as `compileJob`. */
export async function inputColumnsRead(
  job: JobConfig,
  texts: FormulaTexts,
  columns: InputColumns,
): Promise<FileColumns & { readonly programs: readonly JobProgram[] }> {
  const ownGroups = await readJobGroups(job, columns, []);
  const programs = await compileJob(job, texts, columns, ownGroups.keys());
  const read = (of: (program: JobProgram) => readonly string[]) => [...new Set(programs.flatMap(of))];
  return {
    programs,
    fields: broughtFields(read((program) => program.read.fields)),
    groups: read((program) => program.read.groups).filter((name) => !ownGroups.has(name)),
  };
}

/** How rows of a query are taken: what formulas read of earlier ones must stay. */
export function queryOptions(
  job: JobConfig,
  texts: FormulaTexts,
  { begin }: Pick<JobHistory, "begin">,
): QueryOptions {
  return {
    leaveOutIncomplete: job.badInput === "skip",
    columnsRead: async () => {
      if (begin === null) return [];
      const { fields, groups } = await inputColumnsRead(job, texts, begin);
      return [...fields, ...groups].map((name) => job.source.rename?.[name] ?? name);
    },
  };
}
