/** The groups of a job: its table, and what is kept of it for the symbols that were evaluated. */
import { readGroupTable } from "../../data/side_tables/group_table.ts";
import { sharedCodes } from "../../evaluation/shared_columns.ts";
import type { GroupColumn } from "../../panel.ts";
import type { JobConfig } from "../config/config.ts";
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
   * What the formulas read of the table, for these symbols. A known symbol keeps its label where the table has none any more.
   * Another label counts from the next row on.
   *
   * @param names the groups of the table that formulas read
   * @param known the symbols that have been evaluated, and up to which time
   */
  async forUniverse(
    columns: InputColumns,
    names: readonly string[],
    symbols: readonly string[],
    known: (Universe & { readonly until: string }) | null,
  ): Promise<{ readonly groups: Universe["groups"]; readonly relabelled: readonly Relabelled[] }> {
    const table = await this.forSymbols(columns, symbols, known?.symbols);
    const laneBefore = new Map(known?.symbols.map((symbol, lane) => [symbol, lane]));
    const relabelled: Relabelled[] = [];
    const groups = names.map((group) => {
      const given = table.get(group);
      const before = known?.groups.find(({ name }) => name === group);
      const newLabels = symbols.map((_, lane) => given?.labels[given.codes[lane]!] ?? null);
      /** Of one version of the group; new symbols have one label in all of them. */
      const labelsOf = (codes: readonly number[]): Labels =>
        symbols.map((symbol, lane) => {
          const own = laneBefore.get(symbol);
          return own === undefined ? (newLabels[lane] ?? null) : (before!.labels[codes[own]!] ?? null);
        });
      const versions = before?.earlier.map(({ until, codes }) => ({ until, labels: labelsOf(codes) })) ?? [];
      const former = before ? labelsOf(before.codes) : newLabels;
      const labels = newLabels.map((label, lane) => label ?? former[lane] ?? null);
      const changed = symbols.flatMap((symbol, lane) =>
        labels[lane] === former[lane]
          ? []
          : [{ symbol, before: former[lane] ?? null, label: labels[lane] ?? null }],
      );
      const [first] = changed;
      if (first) relabelled.push({ group, count: changed.length, ...first });
      if (first && versions.at(-1)?.until !== known!.until)
        versions.push({ until: known!.until, labels: former });
      return keptGroup(group, labels, versions);
    });
    return { groups, relabelled };
  }
}

/** Symbols with another label than before, the first of them by name. */
export interface Relabelled {
  readonly group: string;
  readonly count: number;
  readonly symbol: string;
  readonly before: string | null;
  readonly label: string | null;
}

type Labels = readonly (string | null)[];

function keptGroup(
  name: string,
  laneLabels: Labels,
  versions: readonly { readonly until: string; readonly labels: Labels }[],
): KeptGroup {
  const all = [...versions.flatMap((version) => version.labels), ...laneLabels];
  const labels = [...new Set(all)].filter((label) => label !== null).sort();
  const codeOf = new Map(labels.map((label, code) => [label, code]));
  const codesOf = (own: Labels) => own.map((label) => (label === null ? -1 : codeOf.get(label)!));
  const earlier = versions.map(({ until, labels: own }) => ({ until, codes: codesOf(own) }));
  return { name, labels, codes: codesOf(laneLabels), earlier };
}

/** The groups of a universe at the times of rows: one code for each lane, and none for one more lane. */
export class LaneGroups {
  readonly #groups: readonly LaneGroup[];

  constructor(groups: Universe["groups"]) {
    const lanes = (own: readonly number[]) => {
      const codes = sharedCodes(own.length + 1).fill(-1);
      codes.set(own);
      return codes;
    };
    this.#groups = groups.map(({ name, labels, codes, earlier }) => {
      const versions = earlier.map((one) => ({ until: BigInt(one.until), codes: lanes(one.codes) }));
      return { name, labels, versions: [...versions, { until: 2n ** 63n - 1n, codes: lanes(codes) }] };
    });
  }

  get names(): string[] {
    return this.#groups.map(({ name }) => name);
  }

  /** @param times ascending, at least one */
  at(times: BigInt64Array): Map<string, GroupColumn> {
    const columns = this.#groups.map(({ name, labels, versions }): GroupColumn => {
      const at = (time: bigint) => versions.find(({ until }) => time <= until)!;
      const { codes: first } = at(times[0]!);
      if (first === at(times.at(-1)!).codes) return { name, labels, codes: first, changesOverTime: false };
      const codes = sharedCodes(times.length * first.length);
      for (const [row, time] of times.entries()) codes.set(at(time).codes, row * first.length);
      return { name, labels, codes, changesOverTime: true };
    });
    return new Map(columns.map((column) => [column.name, column]));
  }
}

interface LaneGroup {
  readonly name: string;
  readonly labels: readonly string[];
  /** Ascending. */
  readonly versions: readonly { readonly until: bigint; readonly codes: GroupColumn["codes"] }[];
}
