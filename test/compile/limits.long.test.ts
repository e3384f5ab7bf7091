import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { SOURCE_BYTES_MAX } from "../../src/limits.ts";
import { mistakes, rendered } from "./rendered.ts";

describe("expansion ends where it would not fit", () => {
  const lines = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i));

  test("definitions that double", () => {
    const text = [
      "let f0(x) = x",
      ...lines(60, (i) => `let f${i + 1}(x) = f${i}(x) * f${i}(x)`),
      "a = f60(close)",
    ];
    expect(rendered(text.join("\n"))).toMatchInlineSnapshot(`
      "E104 a.factors:21:14: the file has more than 8000000 expressions once its definitions are expanded
        | let f20(x) = f19(x) * f19(x)
        |              ^^^^^^^^^^^^^^^ give repeated parts a name with let, or split the file"
    `);
  });

  test("conditions that are repeated for many factors count too", () => {
    const block = `when p${" == 1 && p".repeat(5000)} {`;
    const text = ["param p = 1", block, ...lines(1000, (i) => `a${i} = close when p == ${i}`), "}"];
    expect(mistakes(text.join("\n"))).toEqual([expect.stringMatching(/^E104 /)]);
  });
});

describe("what is long but has an end compiles", () => {
  test("a chain of 50,000 definitions, in either order", () => {
    const chain = Array.from({ length: 50_000 }, (_, i) => `let v${i + 1} = v${i} + 1`);
    for (const text of [
      ["let v0 = close", ...chain, "a = v50000"],
      ["a = v50000", ...chain.toReversed(), "let v0 = close"],
    ]) {
      expect(finalDag(compile(text.join("\n"))).tasks).toHaveLength(50_002);
    }
  });

  test("a cycle of 50,000 definitions is one mistake", () => {
    const text = Array.from({ length: 50_000 }, (_, i) => `let v${i} = v${(i + 1) % 50_000} + 1`);
    expect(mistakes(`${text.join("\n")}\na = v7`)).toEqual([
      "E208 1:5 v0 uses itself: v0 -> v1 -> v2 -> v3 -> v4 -> ... -> v49999 -> v0",
    ]);
  });

  test("a formula of 100,000 terms", () => {
    const program = compile(`a = close${" + close".repeat(100_000)}`);
    expect(finalDag(program).tasks).toHaveLength(100_001);
  });

  test("a name of a million letters", () => {
    const name = "x".repeat(1_000_000);
    expect(compile(`${name} = close`).factors[0]?.name).toBe(name);
    const [message] = mistakes(`a = ${name}`) as [string];
    expect(message.length).toBeLessThan(120);
  });

  test("a factor under 100 blocks, shared by many", () => {
    const text = `param p = 1\n${"when p {\n".repeat(100)}a = close\nb = open\n${"}\n".repeat(100)}`;
    const { conditions, outputs } = finalDag(compile(text));
    expect(conditions).toHaveLength(1);
    expect(outputs.map(({ condition }) => condition)).toEqual([0, 0]);
  });
});

describe("size of the source", () => {
  test("is counted in bytes of UTF-8", () => {
    const letters = "\u00e9".repeat(SOURCE_BYTES_MAX / 2);
    expect(mistakes(`#${letters}`)).toEqual([
      "E104 1:1 the source has 16777217 bytes, the limit is 16777216",
    ]);
  });

  test("may reach the limit", () => {
    const head = "a = close #";
    expect(mistakes(head + "x".repeat(SOURCE_BYTES_MAX - head.length))).toEqual([]);
  });
});

test("many unknown names end in a hundred diagnostics without comparing each with each", () => {
  const text = Array.from({ length: 50_000 }, (_, i) => `factor${i} = faktor${i}(close) + factr${i}`).join(
    "\n",
  );
  expect(mistakes(text)).toHaveLength(100);
});
