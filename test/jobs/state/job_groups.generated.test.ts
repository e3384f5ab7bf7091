import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JobConfig } from "../../../src/jobs/config/config.ts";
import type { Universe } from "../../../src/jobs/ledger/records.ts";
import { groupsOf, JobGroups } from "../../../src/jobs/state/job_groups.ts";
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

async function universeOf(table: Table, symbols: readonly string[], known: Universe | null) {
  const names = Object.keys([...table.values()][0]!);
  const lines = [...table].map(([symbol, labels]) =>
    [symbol, ...names.map((name) => labels[name])].join(","),
  );
  writeFileSync(path, `${[["symbol", ...names].join(","), ...lines].join("\n")}\n`);
  return { symbols, groups: await new JobGroups(job).forUniverse(columns, read, symbols, known) };
}

function labelsOf(universe: Universe): Record<string, string | null> {
  const { labels, codes } = groupsOf(universe).get("sector")!;
  return Object.fromEntries(universe.symbols.map((symbol, lane) => [symbol, labels[codes[lane]!] ?? null]));
}

test("what formulas read of a known symbol counts, and nothing else of the table of groups", async () => {
  const { seed, below } = new Seeded();
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)]!;
  const known = ["A", "B", "C", "D", "E"];
  const counts = { refused: 0, kept: 0 };
  for (let trial = 0; trial < trials(25, 300); trial += 1) {
    const sectors = ["tech", "oil", "food", ""];
    const before: Table = new Map(
      [...known, "X"].map((symbol) => [symbol, { sector: oneOf(sectors), rating: oneOf(["1", "2"]) }]),
    );
    before.set("A", { sector: "tech", rating: "1" });
    const universe = await universeOf(before, known, null);
    const after: Table = structuredClone(before);
    const everyLine = (change: (labels: Record<string, string>) => void) => after.forEach(change);
    const line = () => after.get(oneOf([...after.keys()]))!;
    const changes = {
      order: () => {
        const [symbol, labels] = oneOf([...after]);
        after.delete(symbol);
        after.set(symbol, labels);
      },
      "other column": () => (line()["rating"] = oneOf(["2", "3", ""])),
      "new column": () => everyLine((labels) => (labels["region"] = oneOf(["us", "eu"]))),
      "no other column": () => everyLine((labels) => delete labels["rating"]),
      "new symbol": () => after.set("Z", { ...line(), sector: oneOf(sectors) }),
      "line gone": () => after.delete(oneOf(["B", "C", "D", "X"])),
      "label gone": () => (line()["sector"] = ""),
      "label changed": () => (line()["sector"] = oneOf(sectors)),
    };
    const made = Array.from({ length: 1 + below(3) }, () => oneOf(Object.keys(changes)));
    for (const name of made) changes[name as keyof typeof changes]();
    const usual = labelsOf(universe);
    const given = (symbol: string) => after.get(symbol)?.["sector"] || null;
    const differs = known.filter((symbol) => given(symbol) !== null && given(symbol) !== usual[symbol]);
    const says = `${made} of ${JSON.stringify([...before])}, SEED=${seed}`;
    const reading = universeOf(after, [...known, "Z"], universe);
    if (differs.length > 0) {
      counts.refused += 1;
      await expect(reading, says).rejects.toThrow(
        `E531 job bars: the groups of known symbols (sector of ${differs[0]}) changed`,
      );
    } else {
      counts.kept += 1;
      expect(labelsOf(await reading), says).toEqual({ ...usual, Z: given("Z") });
    }
  }
  expect(Math.min(counts.refused, counts.kept), `SEED=${seed}`).toBeGreaterThan(0);
});
