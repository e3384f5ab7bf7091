import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scalarArithmetic } from "../../src/elementary/scalar.ts";
import { FUNCTIONS, type Tested } from "./functions.ts";
import { drawFrom, RANGES } from "./samples.ts";

/**
 * Arguments and results as bit patterns: a machine on which this passes computes the same bits as any other. Only a
 * change of the functions needs UPDATE_GOLDEN=1, never another machine.
 */

const GOLDEN = new URL("bits.golden.txt", import.meta.url);

/** Approximate number of arguments of each function. */
const COUNT = 210;

const bytes = new DataView(new ArrayBuffer(8));

function hexOf(x: number): string {
  bytes.setFloat64(0, x);
  return bytes.getBigUint64(0).toString(16).padStart(16, "0");
}

function doubleOf(hex: string): number {
  bytes.setBigUint64(0, BigInt(`0x${hex}`));
  return bytes.getFloat64(0);
}

/** `name x [y] result` */
function lineOf({ name, emit, argumentCount }: Tested, x: number, y: number): string {
  const result = emit(scalarArithmetic, x, y);
  return [name, ...[x, y].slice(0, argumentCount).map(hexOf), hexOf(result)].join(" ");
}

function rewrite(): void {
  const lines = FUNCTIONS.flatMap((tested) => {
    const draws = Object.values(RANGES[tested.name] ?? {});
    const count = Math.ceil(COUNT / draws.length);
    return draws.flatMap((draw) => [...drawFrom(draw, count, 3)].map(([x, y]) => lineOf(tested, x, y)));
  });
  writeFileSync(GOLDEN, `${lines.join("\n")}\n`);
}

if (process.env["UPDATE_GOLDEN"]) rewrite();
const golden = existsSync(GOLDEN) ? readFileSync(GOLDEN, "utf8").trimEnd().split("\n") : [];

describe.each(FUNCTIONS)("$name", (tested) => {
  test("gives the recorded bits", () => {
    const recorded = golden.filter((line) => line.startsWith(`${tested.name} `));
    const computed = recorded.map((line) => {
      const [x, y] = line.split(" ").slice(1).map(doubleOf) as [number, number];
      return lineOf(tested, x, y);
    });
    expect(computed).toEqual(recorded);
    expect(recorded.length).toBeGreaterThanOrEqual(200);
  });
});
