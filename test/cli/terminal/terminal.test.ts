import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { formatTable } from "../../../src/cli/terminal/text_table.ts";
import { hostileText, UNSEEN } from "../../text/hostile_text.ts";
import { BARS, runCli, runCliProcess, runTwoAtATime } from "../run_cli.ts";

const MAIN = fileURLToPath(new URL("../../../dist/src/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "factorloom-terminal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILES = {
  "a.factors": "a = rank(close)\n",
  "bars.csv": BARS,
  "jobs.yaml": `journal: journal
jobs:
  - name: daily
    formulas: { files: [a.factors] }
    source: { files: "*.csv" }
    sink: { arrow: results }
    schedule: { cron: "0 0 1 1 *" }
`,
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);

/** For each command a call that prints to stdout, and one that prints to stderr. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  eval: [
    ["a.factors", "--data", "bars.csv"],
    ["a.factors", "--data", "none.csv"],
  ],
  check: [["a.factors"], ["none.factors"]],
  explain: [["a.factors"], ["none.factors"]],
  ops: [[], ["rnak"]],
  bench: [[], ["none"]],
  verify: [
    ["a.factors", "--data", "bars.csv"],
    ["a.factors", "--data", "none.csv"],
  ],
  run: [["jobs.yaml", "--dry-run"], ["none.yaml"], ["jobs.yaml", "--once"]],
  status: [["jobs.yaml"], ["none.yaml"]],
  cluster: [["--help"], ["none"]],
  help: [[], ["none"]],
};

interface Ended {
  readonly exitCode: number | null;
  readonly printed: string;
}

/** Runs a call; of `closed` the reader goes before anything is written, of the other stream all is read. */
async function runCall(args: readonly string[], closed: "stdout" | "stderr" | null): Promise<Ended> {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], { cwd: folder });
  let printed = "";
  for (const name of ["stdout", "stderr"] as const) {
    if (name === closed) child[name]?.destroy();
    else child[name]?.setEncoding("utf8").on("data", (text: string) => (printed += text));
  }
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, printed };
}

describe("a reader that has gone", () => {
  test("is tried with every command", async () => {
    const { stdout } = await runCli(["--help"]);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name]) => name as string);
    expect(Object.keys(CALLS).sort()).toEqual(commands.sort());
  });

  const calls = Object.entries(CALLS).flatMap(([name, each]) => each.map((args) => [name, ...args]));
  test.each(calls.map((call) => [call.join(" "), call] as const))("ends no work of %s", async (_, call) => {
    const { exitCode } = await runCall(call, null);
    for (const closed of ["stdout", "stderr"] as const) {
      const ended = await runCall(call, closed);
      expect(ended.exitCode, closed).toBe(exitCode);
      expect(ended.printed, closed).not.toMatch(/EPIPE|^ {4}at |This is a bug/m);
    }
  });

  test.runIf(process.platform === "linux")("differs from a full disk", async () => {
    const child = spawn(process.execPath, [MAIN, "ops"], {
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const [exitCode] = (await once(child, "close")) as [number | null];
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        "E445 stdout cannot be written (ENOSPC: no space left on device, write)\n  make room where it is kept\n",
    });
  });
});

describe("names that are made to do harm", () => {
  test("stay in their cells of a table", () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 1, maxLength: 4 }), (names) => {
        const lines = formatTable(
          ["name", "n"],
          names.map((name) => [name, 1]),
        ).split("\n");
        expect(lines).toHaveLength(names.length + 1);
        expect(lines.join("")).not.toMatch(UNSEEN);
        expect(new Set(lines.slice(1).map((line) => line.length)).size).toBe(1);
      }),
    );
  });

  test("reach no terminal, wherever they stand", async () => {
    const names = fc.sample(hostileText, 4).map((name) => name.replaceAll(/[\0/]/g, "_"));
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const calls = names.flatMap((name) => [
      { args: ["check", `${name}.factors`], files: {} },
      { args: ["eval", "a.factors", "--data", `${name}.csv`], files: FILES },
      { args: ["eval", "a.factors", "--data", "bars.csv", "--select", name], files: FILES },
      { args: ["eval", "a.factors", "--data", "bars.csv", `--${name}`], files: FILES },
      { args: ["eval", "a.factors", "--data", "bars.csv", "--out", `${name}.xyz`], files: FILES },
      {
        args: ["eval", "a.factors", "--data", "b.csv"],
        files: { ...FILES, "b.csv": BARS.replaceAll("A", cell(name)).replace("2,100", "x,100") },
      },
      {
        args: ["eval", "a.factors", "--data", "b.csv"],
        files: { ...FILES, "b.csv": BARS.replace("close", cell(name)) },
      },
      { args: ["check", "b.factors"], files: { "b.factors": `a = ${name}\n` } },
      { args: ["ops", name], files: {} },
      { args: [name], files: {} },
    ]);
    const results = await runTwoAtATime(calls, ({ args, files }) => runCli(args, files));
    for (const [i, { stdout, stderr, exitCode }] of results.entries()) {
      const call = JSON.stringify(calls[i]);
      expect(exitCode, call).not.toBe(3);
      expect((stdout + stderr).replaceAll(/[\n\t]/g, ""), call).not.toMatch(UNSEEN);
    }
  });

  test("reach no log", async () => {
    const name = "z\x9b31m\u202e";
    const files = { ...FILES, [`${name}.csv`]: "date,symbol,close\n2020-01-04,A\n" };
    const { stderr, exitCode } = await runCliProcess(["run", "jobs.yaml", "--once"], files);
    expect({ exitCode, names: stderr.includes("z\\u009b31m\\u202e.csv") }).toEqual({
      exitCode: 1,
      names: true,
    });
    expect(stderr.replaceAll("\n", "")).not.toMatch(UNSEEN);
  });

  test("are in files and in JSON what they were", async () => {
    const name = "A\x1b[2J\u202e\x9b";
    const { stdout, written } = await runCli(
      ["eval", "a.factors", "--data", "bars.csv", "--out", "out.csv", "--json"],
      { ...FILES, "bars.csv": BARS.replaceAll(",A,", `,${name},`) },
      "out.csv",
    );
    expect(written).toContain(name);
    expect(JSON.parse(stdout).out).toBe("out.csv");
    const checked = await runCli(["check", `${name}.factors`, "--json"], {
      [`${name}.factors`]: "a = close\n",
    });
    expect(JSON.parse(checked.stdout).file).toBe(`${name}.factors`);
    expect(checked.stdout.trimEnd()).not.toMatch(UNSEEN);
  });
});
