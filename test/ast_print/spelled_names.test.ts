import { describe, expect, test } from "vitest";
import { spelledName } from "../../grammar/names.ts";
import { compile } from "../../src/compile.ts";
import { graph, mistakes, remedies, rendered } from "../compile/rendered.ts";
import { fieldsOf } from "./fields_of.ts";

describe("the name of a column", () => {
  test.each([
    ["收盘", "收盘"],
    ["Preis_schluß2", "Preis_schluß2"],
    ["цена.закрытия", "цена.закрытия"],
    ["नाम", "नाम"],
    ["Adj Close", "`Adj Close`"],
    ["1d", "`1d`"],
    ["a-b", "`a-b`"],
    ["let", "`let`"],
    ["null", "`null`"],
    ["priority", "priority"],
    ["$close", "`$close`"],
    ['say "x"', '`say "x"`'],
    ["back`quote", "`back``quote`"],
    ["`", "````"],
    ["a·b", "`a·b`"],
    ["😀", "`😀`"],
  ])("%s is spelt %s", (name, spelled) => {
    expect(spelledName(name)).toBe(spelled);
    expect(fieldsOf(`rank(${spelled}) - ts_mean(${spelled}, 2)`, [name])).toEqual([name, name]);
    expect(graph(`f = ${spelled}`, { fields: [name] })).toBe(`%0 = ${spelled}\nf = %0`);
  });

  test("may stand in backquotes in every dialect, and behind $ in qlib", () => {
    const fields = ["Adj Close", "收盘"];
    for (const dialect of ["native", "alpha101", "qlib", "gtja191"])
      expect(fieldsOf("`Adj Close` + 收盘 + `收盘`", fields, dialect)).toEqual(["Adj Close", "收盘", "收盘"]);
    expect(fieldsOf("$`adj close` + $收盘", fields, "qlib")).toEqual(["Adj Close", "收盘"]);
    expect(fieldsOf("$close + `$close`", ["close"], "qlib")).toEqual(["close", "close"]);
    expect(fieldsOf("$close + `$close` + close", ["$close", "close"], "qlib")).toEqual([
      "$close",
      "$close",
      "close",
    ]);
    expect(mistakes("f = `$close`", { fields: ["close"] })).toEqual(["E205 1:5 unknown name `$close`"]);
  });

  test("is found however its letters are composed and whatever their case", () => {
    const [one, two] = ["é".normalize("NFC"), "é".normalize("NFD")];
    expect(fieldsOf(`${one} + ${two} + \`${two}\` + É`, [one])).toEqual([one, one, one, one]);
    expect(fieldsOf(`${one} + ${two}`, [two])).toEqual([two, two]);
    expect(fieldsOf("ЦЕНА", ["цена"])).toEqual(["цена"]);
    expect(compile(`${two} = close`).factors[0]!.name).toBe(one);
    expect(mistakes(`${one} = close\n${two} = open`)).toEqual([`E207 2:1 ${one} is defined twice`]);
  });

  test("is suggested as it is to be written", () => {
    const options = { fields: ["Adj Close", "收盘价格"] };
    expect(remedies("f = AdjClose", options)).toEqual(["did you mean `Adj Close`?"]);
    expect(remedies("f = 收盘价个", options)).toEqual(["did you mean 收盘价格?"]);
    expect(remedies("f = zzz", { ...options, groups: ["GICS sector"] })).toEqual([
      "fields: `Adj Close`, 收盘价格; groups: `GICS sector`",
    ]);
    expect(remedies("f = ｃｌｏｓｅ")).toEqual(["did you mean close?"]);
    expect(remedies("f = rank(Adj Close)", options)).toEqual([
      "write an operator between them, or one name with a space as `Adj Close`",
    ]);
  });

  test("has its carets below it", () => {
    expect(rendered("f = 收盘 + `a b`", { fields: ["x"], groups: [] })).toMatchInlineSnapshot(`
      "E205 a.factors:1:5: unknown name 收盘
        | f = 收盘 + \`a b\`
        |     ^^^^ fields: x; groups: none (--groups PATH adds those of a table)
      E205 a.factors:1:10: unknown name \`a b\`
        | f = 收盘 + \`a b\`
        |            ^^^^^ fields: x; groups: none (--groups PATH adds those of a table)"
    `);
    expect(
      rendered("let `my mean`(x) = x\nf = `my mean`(close, 2) + `no such`(close)"),
    ).toMatchInlineSnapshot(`
      "E202 a.factors:2:5: \`my mean\` expects 1 argument, got 2
        | f = \`my mean\`(close, 2) + \`no such\`(close)
        |     ^^^^^^^^^ it reads \`my mean\`(x)
      E201 a.factors:2:27: unknown function \`no such\`
        | f = \`my mean\`(close, 2) + \`no such\`(close)
        |                           ^^^^^^^^^ \`factorloom ops\` lists all functions"
    `);
  });
});

test("definitions, functions of a file, their parameters and params may have such names", () => {
  const text = [
    "param `half life` = 0.5",
    'param 时段 = "close"',
    "let `my mean`(x, `the window`) = ts_mean(x, `the window`)",
    "let день = `my mean`(close, 5)",
    "`my factor` = rank(день) * `half life` when 时段 == 'say \"x\"'",
    "因子 = -`my factor`",
  ].join("\n");
  const program = compile(text);
  expect(program.factors.map(({ name }) => name)).toEqual(["my factor", "因子"]);
  expect([...program.params.keys()]).toEqual(["half life", "时段"]);
  expect(graph(text).split("\n").slice(-3)).toEqual([
    "%5 = negate(%4)",
    "`my factor` = %4 when 时段 == 'say \"x\"'",
    "因子 = %5",
  ]);
  expect(mistakes("let `a b` = `c d`\nlet `c d` = `a b`\nf = close")).toEqual([
    "E208 1:5 `a b` uses itself: `a b` -> `c d` -> `a b`",
  ]);
  expect(mistakes("`$x` = close")).toEqual([]);
  expect(mistakes("f = close when `a b` == 1")).toEqual([
    "E213 1:16 `a b` is not a param: conditions are evaluated once per call, from params alone",
  ]);
});
