import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineOperator } from "../../../src/operator/definition.ts";
import { isRunning, until } from "../../support/until.ts";

/** Names the folder of the gate in the environment of executors; where it is missing the operator does nothing. */
export const GATE_VARIABLE = "FACTORLOOM_TEST_GATE";

/**
 * `gated(x, row)` gives `x`. In executors it waits at the gate: from the row on at which that is closed. So faults hit a
 * task while it runs, however fast the machine is.
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
    const closedFrom = () => {
      try {
        return Number(fs.readFileSync(`${folder}/closed`, "utf8"));
      } catch {
        return Number.POSITIVE_INFINITY;
      }
    };
    if (fs.existsSync(`${folder}/broken`)) {
      fs.appendFileSync(`${folder}/broken`, `${row}\n`);
      throw new Error(`the gate is broken at row ${row}`);
    }
    const mark = `${folder}/waiting-${process.pid}`;
    const clock = new Int32Array(new SharedArrayBuffer(4));
    while (row >= closedFrom()) {
      fs.writeFileSync(mark, "");
      Atomics.wait(clock, 0, 0, 5);
    }
    fs.rmSync(mark, { force: true });
  },
});

/** Holds the executors of a cluster that was started with `GATE_VARIABLE`. */
export class Gate {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder);
  }

  /** Executors wait from this row on. */
  close(row: number): void {
    writeFileSync(join(this.folder, "closing"), String(row));
    renameSync(join(this.folder, "closing"), join(this.folder, "closed"));
  }

  open(): void {
    rmSync(join(this.folder, "closed"), { force: true });
    rmSync(join(this.folder, "broken"), { force: true });
  }

  /** Executors throw. */
  break(): void {
    writeFileSync(join(this.folder, "broken"), "");
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
