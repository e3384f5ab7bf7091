/** Reads the table of groups of a job for its symbols. */
import { groupOfLabels, readGroupTable } from "../../data/side_tables/group_table.ts";
import type { GroupColumn } from "../../panel.ts";
import type { JobConfig } from "../config/config.ts";
import { jobChanged } from "../errors.ts";
import type { InputColumns, UniverseRecord } from "../journal/records.ts";

/** Groups by name, one code per symbol; empty without a table. Those that are labelled already need no row. */
export async function readJobGroups(
  job: JobConfig,
  { fieldNames, groupNames, time }: InputColumns,
  symbols: readonly string[],
  labelled: readonly string[] = [],
): Promise<Map<string, GroupColumn>> {
  if (job.groups === undefined) return new Map();
  const panel = { symbols, fieldNames, groupNames, time: { ...time, values: new BigInt64Array(0) } };
  const groups = await readGroupTable(
    job.groups,
    panel,
    `the input of job ${job.name}`,
    job.source.symbolColumn,
    labelled,
  );
  return new Map(groups.map((group) => [group.name, group]));
}

type KeptGroup = UniverseRecord["groups"][number];

/**
 * What the formulas read of the table of groups, for these symbols. A known symbol keeps its label, also where the table
 * has none any more: windows hold rows of its group, and the state may be computed again.
 *
 * @param names the groups of the table that formulas read
 * @param known the symbols that have been evaluated
 * @throws UsageError E531 if a known symbol has another label.
 */
export async function groupsRead(
  job: JobConfig,
  columns: InputColumns,
  names: readonly string[],
  symbols: readonly string[],
  known: UniverseRecord | null,
): Promise<KeptGroup[]> {
  const table = await readJobGroups(job, columns, symbols, known?.symbols);
  return names.map((name) => {
    const group = table.get(name);
    if (group === undefined) throw jobChanged(job.name, `the table of groups (without ${name})`);
    const former = known === null ? null : labelsBySymbol(known, group.name);
    const kept = labelsOf(group).map((label, lane) => {
      const symbol = symbols[lane]!;
      const before = former?.get(symbol);
      if (before === undefined || label === null || label === before) return before ?? label;
      throw jobChanged(job.name, `the groups of known symbols (${group.name} of ${symbol})`);
    });
    const { labels, codes } = groupOfLabels(name, kept);
    return { name, labels, codes: [...codes] };
  });
}

/** The groups of a universe, by name. */
export function groupsOf({ groups }: UniverseRecord): Map<string, GroupColumn> {
  return new Map(groups.map((group) => [group.name, groupOfLabels(group.name, labelsOf(group))]));
}

function labelsBySymbol({ symbols, groups }: UniverseRecord, name: string): Map<string, string | null> {
  const group = groups.find((one) => one.name === name);
  const labels = group === undefined ? [] : labelsOf(group);
  return new Map(symbols.map((symbol, lane) => [symbol, labels[lane] ?? null]));
}

/** The label of each lane. */
function labelsOf({ labels, codes }: KeptGroup | GroupColumn): (string | null)[] {
  return Array.from(codes, (code) => labels[code] ?? null);
}
