import { describe, expect, test } from "vitest";
import { spelledName } from "../../grammar/names.ts";
import { printExpression } from "../../src/ast/print.ts";
import { compile } from "../../src/compile.ts";
import { textWidth } from "../../src/text/text_width.ts";
import { mistakes, refusal } from "../compile/rendered.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { bindFormula, treeDifference } from "./bound_formula.ts";
import { fieldsOf } from "./fields_of.ts";

describe("random names", () => {
  const pieces = [
    ..."abcXYZ_019 .$`'\"-+(){}=,#?:|&",
    ..."éßñ收盘价格ДЯשלم가ｃ１",
    ..."\u0301\u093f\u200d·，（",
    ..."😀𝒳",
    "let",
    "when",
    "null",
    "true",
    "priority",
    "//",
    "rank",
    "  ",
  ];
  const random = new Seeded();
  const anyName = () =>
    Array.from({ length: 1 + random.below(5) }, () => pieces[random.below(pieces.length)]).join("");
  const fold = (name: string) => name.normalize("NFC").toLowerCase();

  /** Distinct names, whatever their letter case, that no derived series has. */
  function names(count: number): string[] {
    const found = new Map<string, string>();
    while (found.size < count) {
      const name = anyName();
      if (!found.has(fold(name))) found.set(fold(name), name);
    }
    return [...found.values()];
  }

  test("are read as they are spelt, printed so, and read again", () => {
    for (let trial = 0; trial < trials(200, 20_000); trial++) {
      const [a, b, factor, definition, param] = names(5) as [string, string, string, string, string];
      const spelled = (name: string) =>
        random.below(2) ? spelledName(name) : `\`${name.replaceAll("`", "``")}\``;
      const formula = `ts_mean(${spelled(a)}, 3) - rank(${spelled(b)}) > 0 ? -${spelled(a)} : ${spelled(b)} ^ 2`;
      const where = `SEED=${random.seed}: ${JSON.stringify([a, b, factor, definition, param])}`;
      const text = [
        `param ${spelled(param)} = 1`,
        `let ${spelled(definition)} = ${formula}`,
        `${spelled(factor)} = ${spelled(definition)} * ${spelled(param)} when ${spelled(param)} == 1`,
      ].join("\n");
      const fields = [a, b];
      expect(mistakes(text, { fields, groups: [] }), where).toEqual([]);
      const program = compile(text, { fields, groups: [] });
      expect(program.factors[0]!.name, where).toBe(factor.normalize("NFC"));
      expect([...program.params.keys()], where).toEqual([param.normalize("NFC")]);
      const { expression } = program.written.bound.factors[0]!;
      const again = bindFormula(printExpression(expression), {
        fields,
        groups: [],
        params: [spelledName(param)],
      });
      expect(treeDifference(again, expression), `${where} ${printExpression(expression)}`).toBeUndefined();
      expect(fieldsOf(formula, fields), where).toEqual([a, b, a, b]);
    }
  });

  test("that are unknown have their carets below them, and those of the panel are suggested as they are read", () => {
    for (let trial = 0; trial < trials(200, 20_000); trial++) {
      const [known, unknown] = names(2) as [string, string];
      const spelled = spelledName(unknown);
      const width = textWidth(spelled);
      const where = `SEED=${random.seed}: ${JSON.stringify([known, unknown])}`;
      const [mistake] = refusal(`f = 株 + rank(${spelled})`, {
        fields: [known, "株"],
        groups: [],
      })!.diagnostics;
      expect(mistake, where).toMatchObject({ code: "E205", line: 1, column: 14 });
      const [shown, carets] = mistake!.snippet.split("\n") as [string, string];
      expect(textWidth(shown), where).toBe(textWidth("  | f = 株 + rank()") + width);
      expect(carets.startsWith(`  | ${" ".repeat(14)}${"^".repeat(width)} `), where).toBe(true);
      const suggested = /^did you mean (.*)\?$/s.exec(mistake!.remedy)?.[1];
      if (suggested !== undefined && suggested !== "returns" && suggested !== "株")
        expect(fieldsOf(suggested, [known]), where).toEqual([known]);
    }
  });
});
