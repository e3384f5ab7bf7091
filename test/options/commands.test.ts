import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { type CommandDoor, DOORS } from "../../src/options/doors.ts";
import { optionsAt } from "../../src/options/option_table.ts";
import { type CliResult, runCli, runTwoAtATime } from "../cli/run_cli.ts";
import { cases } from "../support/trials.ts";
import {
  bitsOfTable,
  dataOf,
  folder,
  formulasOf,
  PROBES,
  type ProbedName,
  prepared,
  withEngine,
  wordsOf,
  writeFiles,
} from "./probes.ts";

/** Every option of the table at every command that takes it, and in jobs, gives the bits of `evaluate`. */

interface Case {
  readonly name: ProbedName;
  readonly flag: string;
  readonly yaml: string | null;
}

function casesOf(door: CommandDoor): Case[] {
  return optionsAt(door).taken.flatMap(({ name, flag, yaml }) =>
    Object.hasOwn(PROBES, name) ? [{ name: name as ProbedName, flag: flag!, yaml }] : [],
  );
}

/** The table of `evaluate` with these options. */
const EXPECTED = new Map<ProbedName, Record<string, unknown>>();
beforeAll(async () => {
  writeFiles();
  await withEngine(async (engine) => {
    for (const { name, spec } of optionsAt("factorloom eval").taken) {
      if (!Object.hasOwn(PROBES, name)) continue;
      const { program, source, call } = await prepared(name as ProbedName, spec);
      EXPECTED.set(
        name as ProbedName,
        bitsOfTable((await engine.evaluate(program, source, call)).table as never),
      );
      await source.close();
    }
  });
});

const THREADS = ["--threads", "1"];

/** A call of a command with one option. */
function callOf(door: CommandDoor, { name, flag }: Case): string[] {
  const probe = PROBES[name];
  const words = [...(name === "threads" ? [] : THREADS), ...wordsOf(name, flag)];
  return [...door.split(" ").slice(1), "a.factors", "--data", dataOf(probe), ...words];
}

const files = (name: ProbedName) => ({ "a.factors": formulasOf(PROBES[name]) });

test("eval", async () => {
  await runTwoAtATime(casesOf("factorloom eval"), async (one) => {
    const out = join(folder, `${one.name}.arrow`);
    const result = await runCli([...callOf("factorloom eval", one), "--out", out], files(one.name));
    expect(result, one.name).toMatchObject({ exitCode: 0, stderr: "" });
    expect(bitsOfTable(tableFromIPC(readFileSync(out))), one.name).toEqual(EXPECTED.get(one.name));
  });
});

/** What commands print as JSON, beside what follows from the table of `evaluate`. */
const PRINTED: Readonly<Record<string, (result: CliResult, table: Record<string, unknown>) => void>> = {
  nulls: ({ stdout }, table) => {
    const { factors } = JSON.parse(stdout) as {
      readonly factors: readonly { readonly factor: string; readonly nullCount: number }[];
    };
    const isNull = 0x7ff8000000000000n;
    const expected = Object.entries(table)
      .slice(2)
      .map(([factor, bits]) => ({
        factor,
        nullCount: (bits as bigint[]).filter((one) => one === isNull).length,
      }));
    expect(factors).toMatchObject(expected);
  },
  diff: ({ stdout }, table) => {
    const [column] = Object.values(table) as [unknown[]];
    expect(JSON.parse(stdout)).toMatchObject({ isSame: true, rowCount: column.length });
  },
  why: ({ stdout }, table) => {
    const found = JSON.parse(stdout) as { readonly factor: string; readonly value: number | null }[];
    const symbols = Object.values(table)[1] as string[];
    const expected = (table["a"] as bigint[]).filter((_, row) => symbols[row] === "A");
    const values = new Float64Array(BigUint64Array.from(expected).buffer);
    expect(found.map(({ value }) => value)).toEqual(
      Array.from(values, (value) => (Number.isFinite(value) ? value : null)),
    );
  },
};

/** Each option at one of these commands, the next one for the next option; all at all in long runs. */
const LIKE_EVAL = ["nulls", "diff", "why"];

test.each(LIKE_EVAL)("%s", async (command) => {
  const door = `factorloom ${command}` as CommandDoor;
  const all = casesOf(door);
  const names = Object.keys(PROBES);
  const turn = (name: string) => names.indexOf(name) % LIKE_EVAL.length;
  const usual = all.filter(({ name }) => turn(name) === LIKE_EVAL.indexOf(command));
  await runTwoAtATime(cases(usual, all), async (one) => {
    const [name, ...rest] = callOf(door, one).slice(1);
    const isRange = ["from", "to"].includes(one.name);
    const range = isRange ? [] : ["--from", "2020-01-01"];
    const own: Readonly<Record<string, readonly string[]>> = {
      nulls: [],
      diff: [name!],
      why: ["--factor", "a", "--symbol", "A", ...range],
    };
    const result = await runCli([command, name!, ...own[command]!, ...rest, "--json"], files(one.name));
    expect(result, one.name).toMatchObject({ exitCode: 0, stderr: "" });
    PRINTED[command]!(result, EXPECTED.get(one.name)!);
  });
});

test.each(["check", "explain"])("%s knows the columns and the words of the options", async (command) => {
  const door = `factorloom ${command}` as CommandDoor;
  await runTwoAtATime(casesOf(door), async (one) => {
    const call = callOf(door, one).filter((word) => !THREADS.includes(word));
    expect(await runCli(call, files(one.name)), one.name).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

test("verify takes all that it takes at once", async () => {
  const door = "factorloom verify";
  const own = ["timeColumn", "symbolColumn", "dialect", "rename", "from", "to", "params"];
  const taken = casesOf(door).filter(({ name }) => !own.includes(name));
  const flags = taken.flatMap(({ name, flag }) => wordsOf(name, flag));
  const text = `param k = 1\nlet liquid = volume > 100\na = rank(thrice(close)) * k\nc = group_rank(index, sector)\n`;
  const call = ["verify", "a.factors", "--data", join(folder, "bars.csv"), ...flags, "--json"];
  const result = await runCli(call, { "a.factors": text });
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(result.stdout)).toMatchObject({ holds: true });
});

test("run", async () => {
  await runTwoAtATime(casesOf("factorloom run"), async ({ name, yaml }) => {
    const probe = PROBES[name];
    const isEngine = yaml === null;
    const said = probe.yaml ?? String(probe.value);
    const [section, key] = yaml?.includes(".") ? yaml.split(".") : ["", yaml];
    const named = name === "symbolColumn" ? ", time_column: day" : "";
    const at = (part: string) => (section === part ? `, ${key}: ${said}` : "");
    const config = `journal: journal
log: { level: silent }
engine: { ${name === "threads" ? "" : "threads: 1"}${isEngine ? `${name === "threads" ? "" : ", "}${name}: ${said}` : ""} }
jobs:
  - name: probed
    formulas: { files: a.factors${at("formulas")} }
    source: { files: "${dataOf(probe)}"${named}${at("source")} }
    sink: { arrow: out }
    schedule: { cron: "0 5 * * *" }${section === "" && !isEngine ? `\n    ${key}: ${said}` : ""}
`;
    const written = "out/part-00000001.arrow";
    const given = { ...files(name), "jobs.yaml": config };
    const result = await runCli(["run", "jobs.yaml", "--once"], given, written, "latin1");
    expect(result, name).toMatchObject({ exitCode: 0 });
    const table = tableFromIPC(Buffer.from(result.written!, "latin1"));
    expect(bitsOfTable(table), name).toEqual(EXPECTED.get(name));
  });
});

const REFUSED = (Object.keys(DOORS) as CommandDoor[])
  .filter((door) => door.startsWith("factorloom ") && door !== "factorloom run")
  .flatMap((door) =>
    optionsAt(door).refused.flatMap(({ flag, refusal, name }) =>
      flag === null ? [] : [{ door, flag, refusal, name: name as ProbedName }],
    ),
  );

describe("refused with the reason", () => {
  test.each(REFUSED)("$door $flag", async ({ door, flag, refusal, name }) => {
    const call = [...door.split(" ").slice(1), "a.factors", ...wordsOf(name, flag)];
    const { exitCode, stdout, stderr } = await runCli(call, files(name));
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `E527 ${refusal.problem}\n  ${refusal.remedy}\n`,
    });
  });
});
