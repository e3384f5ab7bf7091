/** The groups of a job: its table, and what is kept of it for the symbols that were evaluated. */
import { groupOfLabels, readGroupTable } from "../../data/side_tables/group_table.ts";
import type { GroupColumn } from "../../panel.ts";
import type { JobConfig } from "../config/config.ts";
import { jobChanged } from "../errors.ts";
import { type FileStamp, stampOf } from "../input/input_files.ts";
import type { InputColumns, Universe } from "../ledger/records.ts";

type KeptGroup = Universe["groups"][number];

/** The table of groups of a job. It is read again only if the file or what is asked of it has changed. */
export class JobGroups {
  readonly #job: JobConfig;
  #read: { readonly key: string; readonly groups: ReadonlyMap<string, GroupColumn> } | null = null;

  constructor(job: JobConfig) {
    this.#job = job;
  }

  /** Size and time of the file; null without one. */
  async stamp(): Promise<FileStamp | null> {
    const { groups } = this.#job;
    // Reading the file tells what is wrong with it.
    return groups === undefined ? null : await stampOf(groups).catch(() => null);
  }

  /** Groups by name, one code per symbol; empty without a table. Those that are labelled already need no row. */
  async forSymbols(
    { fieldNames, groupNames, time }: InputColumns,
    symbols: readonly string[],
    labelled: readonly string[] = [],
  ): Promise<ReadonlyMap<string, GroupColumn>> {
    const { groups: file, name, source } = this.#job;
    if (file === undefined) return new Map();
    const key = JSON.stringify([await this.stamp(), fieldNames, groupNames, time, symbols, labelled]);
    if (this.#read?.key === key) return this.#read.groups;
    const panel = { symbols, fieldNames, groupNames, time: { ...time, values: new BigInt64Array(0) } };
    const read = await readGroupTable(file, panel, `the input of job ${name}`, source.symbolColumn, labelled);
    const groups = new Map(read.map((group) => [group.name, group]));
    this.#read = { key, groups };
    return groups;
  }

  /**
   * What the formulas read of the table, for these symbols. A known symbol keeps its label, also where the table has none any
   * more: windows hold rows of its group, and the state may be computed again.
   *
   * @param names the groups of the table that formulas read
   * @param known the symbols that have been evaluated
   * @throws UsageError E531 if a known symbol has another label.
   */
  async forUniverse(
    columns: InputColumns,
    names: readonly string[],
    symbols: readonly string[],
    known: Universe | null,
  ): Promise<KeptGroup[]> {
    const table = await this.forSymbols(columns, symbols, known?.symbols);
    return names.map((name) => {
      const group = table.get(name);
      if (group === undefined) throw jobChanged(this.#job.name, `the table of groups (without ${name})`);
      const former = known === null ? null : labelsBySymbol(known, group.name);
      const kept = labelsOf(group).map((label, lane) => {
        const symbol = symbols[lane]!;
        const before = former?.get(symbol);
        if (before === undefined || label === null || label === before) return before ?? label;
        throw jobChanged(this.#job.name, `the groups of known symbols (${group.name} of ${symbol})`);
      });
      const { labels, codes } = groupOfLabels(name, kept);
      return { name, labels, codes: [...codes] };
    });
  }
}

/** The groups of a universe, by name. */
export function groupsOf({ groups }: Universe): Map<string, GroupColumn> {
  return new Map(groups.map((group) => [group.name, groupOfLabels(group.name, labelsOf(group))]));
}

/** Empty for a group that no formula has read. */
function labelsBySymbol({ symbols, groups }: Universe, name: string): Map<string, string | null> {
  const group = groups.find((one) => one.name === name);
  if (group === undefined) return new Map();
  const labels = labelsOf(group);
  return new Map(symbols.map((symbol, lane) => [symbol, labels[lane] ?? null]));
}

/** The label of each lane. */
function labelsOf({ labels, codes }: KeptGroup | GroupColumn): (string | null)[] {
  return Array.from(codes, (code) => labels[code] ?? null);
}
