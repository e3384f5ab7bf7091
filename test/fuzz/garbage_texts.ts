import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { builtInRegistry } from "../../operators/index.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);
/** Formulas as published, with the line that states their dialect. */
const REAL_FORMULAS = readdirSync(EXAMPLES)
  .filter((file) => file.endsWith(".factors"))
  .flatMap((file) => {
    const lines = readFileSync(new URL(file, EXAMPLES), "utf8").split("\n");
    const head = lines.find((line) => line.startsWith("dialect"));
    return lines
      .filter((line) => /^\w+ =/.test(line))
      .map((line) => ({ head: head ?? "dialect native", line }));
  });

const SYMBOLS = "+ - * / ^ % < <= > >= == != && || ! ? : , = ( ) { } . $ # // \" ' \\ [ ] ; & | ~ @".split(
  " ",
);
const WORDS =
  "let param when priority dialect true false null native alpha101 qlib gtja191 close sector IndClass.sector d x min_periods";
const NUMBERS = "0 1 2.5 .5 7. 1e5 1e999 -1 00 1e 0x1f 17.93 65537 9007199254740993";
const TOKENS = [
  ...SYMBOLS,
  ...WORDS.split(" "),
  ...NUMBERS.split(" "),
  ...builtInRegistry.operators.map(({ name }) => name),
  "\n",
  "\r\n",
  "\t",
  "x = ",
  "let f(x, d) = ",
  'when p == "a" {\n',
  "\u00a0",
  "\ufeff",
  "\u2212",
  "é",
  "𝛼",
  "\ud800",
];
const token = fc.constantFrom(...TOKENS);

const tokenSalad = fc
  .tuple(fc.array(token, { maxLength: 60 }), fc.constantFrom("", " "))
  .map(([tokens, glue]) => `a = ${tokens.join(glue)}`);

const bytes = fc
  .tuple(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("utf8" as const, "latin1" as const))
  .map(([drawn, encoding]) => Buffer.from(drawn).toString(encoding));

const nested = fc
  .tuple(
    fc.constantFrom("(", "-", "!", "abs(", "1 ? ", "1 ? 2 : ", "x = (", "{", "when 1 {\n", "1 + ", "f(d="),
    fc.nat(3000),
  )
  .map(([opening, count]) => `a = ${opening.repeat(count)}`);

/** One change of a text. */
type Edit = (text: string) => string;

const edit: fc.Arbitrary<Edit> = fc
  .tuple(fc.constantFrom("delete", "insert", "repeat", "swap", "cut"), fc.nat(9999), fc.nat(12), token)
  .map(([kind, place, length, inserted]) => (text) => {
    const at = place % (text.length + 1);
    const [before, piece, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
    switch (kind) {
      case "delete":
        return before + after;
      case "insert":
        return before + inserted + piece + after;
      case "repeat":
        return before + piece.repeat(3) + after;
      case "swap":
        return after + piece + before;
      case "cut":
        return before;
    }
  });

const mutated = fc
  .tuple(
    fc.array(fc.constantFrom(...REAL_FORMULAS), { minLength: 1, maxLength: 3 }),
    fc.array(edit, { maxLength: 6 }),
  )
  .map(([formulas, edits]) => {
    const text = formulas.map(({ line }) => line).join("\n");
    return `${formulas[0]!.head}\n${edits.reduce((edited, change) => change(edited), text)}`;
  });

/** What may stand for each other in a formula that still reads as one: names, numbers, symbols. */
const KINDS = [/[A-Za-z_$][\w.]*/g, /(?<![\w.])[\d.]+/g, /[-+*/^%<>=!&|?:]+/g].map((pattern) => {
  return { pattern, pieces: [...new Set(REAL_FORMULAS.flatMap(({ line }) => line.match(pattern) ?? []))] };
});

/** A real formula with some names, numbers or symbols put in place of others: well formed more often than not. */
const misworded = fc
  .tuple(
    fc.constantFrom(...REAL_FORMULAS),
    fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(60), fc.nat(9999)), { minLength: 1, maxLength: 3 }),
  )
  .map(([{ head, line }, changes]) => {
    const [start, formula] = [line.slice(0, line.indexOf("=") + 1), line.slice(line.indexOf("=") + 1)];
    const changed = changes.reduce((text, [{ pattern, pieces }, place, replacement]) => {
      const found = [...text.matchAll(pattern)];
      const piece = found[place % Math.max(1, found.length)];
      if (!piece) return text;
      const after = text.slice(piece.index + piece[0].length);
      return text.slice(0, piece.index) + pieces[replacement % pieces.length] + after;
    }, formula);
    return `${head}\n${start}${changed}`;
  });

const name = fc.constantFrom("a", "b", "c", "f", "A", "close", "rank", "p", "sector", "returns");
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    name,
    fc.constantFrom("1", "0", "5", "-1", "2.5", '"text"'),
    fc.tuple(name, tie("expression")).map(([called, x]) => `${called}(${x})`),
    fc
      .tuple(tie("expression"), fc.constantFrom("+", "<", "==", "&&", "^"), tie("expression"))
      .map((parts) => parts.join(" ")),
    fc.tuple(tie("expression"), tie("expression")).map(([x, d]) => `ts_mean(${x}, ${d})`),
    fc.tuple(tie("expression"), tie("expression")).map(([x, g]) => `group_neutralize(${x}, ${g})`),
  ),
}));

/** Statements that can be read but hardly bound: cycles, names taken twice, wrong numbers and kinds of arguments. */
const statements = fc
  .array(
    fc.oneof(
      fc.tuple(name, expression).map(([defined, x]) => `${defined} = ${x}`),
      fc
        .tuple(name, expression, expression)
        .map(([defined, x, condition]) => `${defined} = ${x} when ${condition}`),
      fc.tuple(name, expression).map(([defined, x]) => `let ${defined} = ${x}`),
      fc.tuple(name, name, expression).map(([defined, x, body]) => `let ${defined}(${x}) = ${body}`),
      fc
        .tuple(name, fc.constantFrom("", " = 1", ' = "a"', " = true"))
        .map(([defined, x]) => `param ${defined}${x}`),
      expression.map((condition) => `when ${condition} {`),
      fc.constantFrom("}", "dialect native", "dialect alpha101", "dialect nothing"),
    ),
    { maxLength: 10 },
  )
  .map((lines) => lines.join("\n"));

/** Texts that are hardly formula files, and real ones with a few changes. */
export const garbageTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: mutated },
  { weight: 6, arbitrary: misworded },
  { weight: 6, arbitrary: statements },
  { weight: 3, arbitrary: tokenSalad },
  bytes,
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.string({ unit: "grapheme", maxLength: 100 }),
  nested,
);
