import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JobConfig } from "../../../src/jobs/config/config.ts";
import type { Universe } from "../../../src/jobs/ledger/records.ts";
import { JobGroups, LaneGroups } from "../../../src/jobs/state/job_groups.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

const path = join(fileFolder(), "groups.csv");
const job = { name: "bars", groups: path, source: {} } as JobConfig;
const time = { name: "date", type: { kind: "date" } } as const;
const columns = { fieldNames: ["close"], groupNames: [], time };
/** The only column that formulas read. */
const read = ["sector"];

/** Lines of the table by symbol, each with its labels by column. */
type Table = Map<string, Record<string, string>>;

async function universeOf(
  table: Table,
  symbols: readonly string[],
  known: (Universe & { until: string }) | null,
) {
  const names = Object.keys([...table.values()][0]!);
  const lines = [...table].map(([symbol, labels]) =>
    [symbol, ...names.map((name) => labels[name])].join(","),
  );
  writeFileSync(path, `${[["symbol", ...names].join(","), ...lines].join("\n")}\n`);
  const { groups, relabelled } = await new JobGroups(job).forUniverse(columns, read, symbols, known);
  return { universe: { symbols, groups }, relabelled };
}

/** The labels of all symbols in rows of some times, and the last lane's. */
function labelsAt(universe: Universe, times: readonly bigint[]): (string | null)[][] {
  const group = new LaneGroups(universe.groups).at(BigInt64Array.from(times)).get("sector")!;
  const width = universe.symbols.length + 1;
  return times.map((_, row) => {
    const first = group.changesOverTime ? row * width : 0;
    return [...group.codes.subarray(first, first + width)].map((code) => group.labels[code] ?? null);
  });
}

test("labels of what formulas read count from the row after the change on, and those of new symbols in all rows", async () => {
  const { seed, below } = new Seeded();
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)]!;
  const sectors = ["tech", "oil", "food", ""];
  const counts = { relabelled: 0, same: 0 };
  for (let trial = 0; trial < trials(10, 100); trial += 1) {
    let symbols = ["A", "B", "D", "F"];
    const table: Table = new Map(
      [...symbols, "X"].map((symbol) => [symbol, { sector: oneOf(sectors), rating: oneOf(["1", "2"]) }]),
    );
    const line = () => table.get(oneOf([...table.keys()]))!;
    const changes = {
      order: () => {
        const [symbol, labels] = oneOf([...table]);
        table.delete(symbol);
        table.set(symbol, labels);
      },
      "other column": () => (line()["rating"] = oneOf(["2", "3", ""])),
      "line gone": () => table.size > 1 && table.delete(oneOf(["B", "D", "F", "X"])),
      "label gone": () => (line()["sector"] = ""),
      "label changed": () => (line()["sector"] = oneOf(sectors)),
      "new symbol": () => {
        const symbol = oneOf(["C", "E", "G"]);
        table.set(symbol, { sector: oneOf(sectors), rating: "1" });
        symbols = [...new Set([...symbols, symbol])].sort();
      },
    };
    let { universe } = await universeOf(table, symbols, null);
    /** By symbol, the label of each time so far. */
    const dated = new Map(symbols.map((symbol) => [symbol, [table.get(symbol)!["sector"] || null]]));
    const made: string[] = [];
    for (let now = 1; now < 6; now += 1) {
      const names = Array.from({ length: below(4) }, () => oneOf(Object.keys(changes)));
      made.push(names.join());
      for (const name of names) changes[name as keyof typeof changes]();
      // A run that fails sees a table that never counts.
      const until = String(now - 1);
      if (below(3) === 0) {
        const passing = structuredClone(table);
        for (const [, labels] of passing) if (labels["sector"]) labels["sector"] = oneOf(["a", "b"]);
        ({ universe } = await universeOf(passing, universe.symbols, { ...universe, until }));
      }
      const known = { ...universe, until };
      const grown = await universeOf(table, symbols, known);
      ({ universe } = grown);
      const says = `${made.join(" | ")}, SEED=${seed}`;
      const last = [...labelsAt(known, [BigInt(now)])[0]!];
      const changed = known.symbols.filter((symbol, lane) => {
        const given = table.get(symbol)?.["sector"] || null;
        return given !== null && given !== last[lane];
      });
      const [symbol] = changed;
      const before = symbol && last[known.symbols.indexOf(symbol)]!;
      const label = symbol && table.get(symbol)!["sector"];
      const event = { group: "sector", count: changed.length, symbol, before, label };
      expect(grown.relabelled, says).toEqual(symbol === undefined ? [] : [event]);
      counts[symbol === undefined ? "same" : "relabelled"] += 1;
      for (const one of symbols) {
        const given = table.get(one)?.["sector"] || null;
        const own = dated.get(one) ?? Array.from({ length: now }, () => given);
        dated.set(one, [...own, given ?? own.at(-1)!]);
      }
      const times = Array.from({ length: now + 1 }, (_, at) => BigInt(at));
      const wanted = times.map((at) => [...symbols.map((one) => dated.get(one)![Number(at)]!), null]);
      expect(labelsAt(universe, times), says).toEqual(wanted);
      const from = below(now + 1);
      expect(labelsAt(universe, times.slice(from)), says).toEqual(wanted.slice(from));
    }
  }
  expect(Math.min(counts.relabelled, counts.same), `SEED=${seed}`).toBeGreaterThan(0);
});
