import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineOperator } from "../../../src/operator/definition.ts";
import { isRunning, until } from "../../support/until.ts";

/** Names the folder of the gate in the environment of executors; where it is missing the operator does nothing. */
export const GATE_VARIABLE = "FACTORLOOM_TEST_GATE";

/** The environment of executors that wait at the gate, also between the steps of `step_gate.mjs`. */
export const gateVariables = ({ folder }: Gate): Record<string, string> => ({
  [GATE_VARIABLE]: folder,
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "step_gate.mjs")}`,
});

/** What a dataset has while an executor waits between two steps. */
export type Step =
  | "columns"
  | "a part without its name"
  | "a part without its counts"
  | "a part beside its columns"
  | "a part beside some of its columns";

/**
 * `gated(x, row)` gives `x`. In executors it waits at the gate: at the rows for which that is closed. So faults hit a task
 * while it runs, however fast the machine is.
 */
export const gated = defineOperator({
  name: "gated",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "row", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary: "Gives x once the gate is open.",
  nulls: "Null where x is null.",
  source: "This test.",
  costNs: () => 100,
  examples: [{ formula: "gated(x, row)", inputs: { x: [1, null], row: [0, 0] }, output: [1, null] }],
  nullWhere: {},
  reference: ([values, rows], _settings, target) => {
    target.set(values!);
    const folder = process.env["FACTORLOOM_TEST_GATE"];
    if (folder === undefined) return;
    const fs = process.getBuiltinModule("node:fs");
    const row = rows!.find(Number.isFinite) ?? 0;
    const textOf = (name: string) => {
      try {
        return fs.readFileSync(`${folder}/${name}`, "utf8");
      } catch {
        return "";
      }
    };
    if (fs.existsSync(`${folder}/broken`)) {
      fs.appendFileSync(`${folder}/broken`, `${row}\n`);
      throw new Error(`the gate is broken at row ${row}`);
    }
    const mark = `${folder}/waiting-${process.pid}`;
    const clock = new Int32Array(new SharedArrayBuffer(4));
    const isClosed = () => {
      const [first, end] = textOf("closed").split(" ").map(Number);
      return row >= first! && row < end!;
    };
    while (isClosed()) {
      fs.writeFileSync(mark, "");
      Atomics.wait(clock, 0, 0, 5);
    }
    fs.rmSync(mark, { force: true });
    const ms = Number(textOf("slow"));
    if (ms > 0) Atomics.wait(clock, 0, 0, ms);
  },
});

/** Holds the executors of a cluster that was started with `gateVariables`. */
export class Gate {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder);
  }

  /** Executors wait at these rows. */
  close(first: number, end = Number.POSITIVE_INFINITY): void {
    this.#close(`${first} ${end}`);
  }

  closeAt(step: Step): void {
    this.#close(step);
  }

  #close(text: string): void {
    writeFileSync(join(this.folder, "closing"), text);
    renameSync(join(this.folder, "closing"), join(this.folder, "closed"));
  }

  open(): void {
    for (const name of ["closed", "broken", "slow"]) rmSync(join(this.folder, name), { force: true });
  }

  /** Executors throw. */
  break(): void {
    writeFileSync(join(this.folder, "broken"), "");
  }

  /** Each row takes this long. */
  slow(ms: number): void {
    writeFileSync(join(this.folder, "slow"), String(ms));
  }

  /** Rows at which executors have thrown. */
  thrownAt(): string[] {
    return readFileSync(join(this.folder, "broken"), "utf8").trimEnd().split("\n");
  }

  /** Waiting executors that still run, once there are as many as given. */
  async waiting(count: number, except: ReadonlySet<number> = new Set()): Promise<number[]> {
    let found: number[] = [];
    await until(() => {
      const marks = readdirSync(this.folder).flatMap((name) => /^waiting-(\d+)$/.exec(name)?.[1] ?? []);
      found = marks.map(Number).filter((pid) => !except.has(pid) && isRunning(pid));
      return found.length >= count;
    });
    return found;
  }
}
