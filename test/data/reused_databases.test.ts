import { expect, test } from "vitest";
import { queryRows, ReusedDatabases } from "../../src/data/duckdb/database.ts";

const settings = "SELECT current_setting('threads'), current_setting('TimeZone')";

test("a database that is used again finds nothing of the use before", async () => {
  using databases = new ReusedDatabases();
  const limits = { memoryBytes: 2 ** 28 };
  const first = await databases.open(limits);
  const usual = await queryRows(first, settings);
  await first.connection.run("CREATE TYPE kinds AS ENUM ('a'); CREATE TABLE kept AS SELECT 1");
  await first.connection.run(
    "CREATE TEMP TABLE raw AS SELECT 1; SET threads = 1; SET TimeZone = 'Asia/Tokyo'",
  );
  // A second one beside it is another.
  const second = await databases.open(limits);
  await second.connection.run("CREATE TYPE kinds AS ENUM ('b'); CREATE TEMP TABLE raw AS SELECT 2");
  expect(await queryRows(second, "FROM raw")).toEqual([[2]]);
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  for (let use = 0; use < 3; use += 1) {
    using again = await databases.open(limits);
    expect(await queryRows(again, settings)).toEqual(usual);
    await expect(queryRows(again, "FROM raw")).rejects.toThrow("raw");
    await expect(queryRows(again, "FROM kept")).rejects.toThrow("kept");
    await again.connection.run("CREATE TYPE kinds AS ENUM ('c'); CREATE TEMP TABLE raw AS SELECT 3");
  }
});
