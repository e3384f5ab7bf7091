import type { ErrorEntry } from "./entry.ts";

/** What the grammar refuses. */
export const SYNTAX: readonly ErrorEntry[] = [
  {
    code: "E101",
    class: "formula",
    title: "A character that the language does not have",
    happened: "The text has a character that starts no name, number, text or symbol of formulas.",
    toDo: "Remove it, or write what the message proposes in its place.",
    example: {
      formula: "a = close @ volume",
      shows: [
        "E101 made.factors:1:11: '@' has no meaning in a formula",
        "  | a = close @ volume",
        "  |           ^ remove it",
      ],
    },
  },
  {
    code: "E102",
    class: "formula",
    title: "A statement that cannot be read",
    happened:
      "A statement does not follow the grammar: something is missing or superfluous at the marked place.",
    toDo: "Correct the statement at the marked place; docs/language.md has the grammar.",
    example: {
      formula: "a = rank(close) and volume",
      shows: [
        "E102 made.factors:1:17: expected the end of the line, but found 'and'",
        "  | a = rank(close) and volume",
        "  |                 ^^^ write && for and",
      ],
    },
  },
  {
    code: "E103",
    class: "formula",
    title: "A bracket without its partner",
    happened: "A parenthesis or a brace is opened and never closed, or closed and never opened.",
    toDo: "Add the missing bracket, or remove the one that is too many.",
    example: {
      formula: "a = rank(close",
      shows: ["E103 made.factors:1:9: '(' is never closed", "  | a = rank(close", "  |         ^ add a ')'"],
    },
  },
  {
    code: "E104",
    class: "formula",
    title: "Nesting that is too deep",
    happened: "Parentheses, conditions or blocks are nested deeper than the limit.",
    toDo: "Give inner parts names of their own with let; join the conditions of blocks with &&.",
    example: {
      program: ['compile("a = " + "(".repeat(1001) + "close")'],
      shows: [
        "E104 formulas:1:105: nested deeper than 100 levels",
        "  | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((...",
        "  |                                                           ^ give inner parts names of their own with let",
      ],
    },
  },
  {
    code: "E105",
    class: "formula",
    title: "A text that is too long",
    happened: "The text of the formulas has more bytes than the limit of 16 MiB.",
    toDo: "Split it into several files.",
    example: {
      program: ['compile(" ".repeat(2 ** 24 + 1))'],
      shows: [
        "E105 formulas:1:1: the source has 16777217 bytes, the limit is 16777216",
        "  | ...",
        "  | ^ split it into several files",
      ],
    },
  },
  {
    code: "E106",
    class: "formula",
    title: "No factor in the file",
    happened:
      "The file can be read and defines no factor: it is empty, or has nothing but let, param and comments.",
    toDo: "Write at least one name = expression.",
    example: {
      formula: "let spread = high - low",
      shows: [
        "E106 made.factors:1:1: no factor in this file",
        "  | let spread = high - low",
        "  | ^ write name = expression",
      ],
    },
  },
  {
    code: "E107",
    class: "formula",
    title: "Bytes that are no text",
    happened:
      "The file holds zero bytes, or bytes that are not UTF-8: it is no text, or in another encoding.",
    toDo: "Save it as plain text in UTF-8.",
    example: {
      program: ['compile("a = close\\0")'],
      shows: [
        "E107 formulas:1:10: this is not a formula text: it contains bytes that are not UTF-8 text",
        "  | a = close",
        "  |          ^ save it as plain text in UTF-8",
      ],
    },
  },
  {
    code: "E108",
    class: "formula",
    title: "An unknown dialect in the file",
    happened: "The statement dialect names none of the dialects.",
    toDo: "Write one of native, alpha101, qlib, gtja191.",
    example: {
      formula: "dialect alpha11\na = rank(close)",
      shows: [
        "E108 made.factors:1:9: unknown dialect alpha11",
        "  | dialect alpha11",
        "  |         ^^^^^^^ did you mean alpha101?",
      ],
    },
  },
  {
    code: "E109",
    class: "formula",
    title: "A priority that cannot be read",
    happened: "The word priority does not follow a factor, or no number follows it.",
    toDo: "Write it after the factor: name = expression priority 10.",
    example: {
      formula: "a = close priority high",
      shows: [
        "E109 made.factors:1:20: a priority is a whole number from -1000 to 1000",
        "  | a = close priority high",
        "  |                    ^^^^ write for example `priority 10`",
      ],
    },
  },
  {
    code: "E110",
    class: "formula",
    title: "Comparisons that are chained",
    happened:
      "A comparison is compared again, as in a < b < c, which would compare a condition with a number.",
    toDo: "Write a < b && b < c, or use parentheses.",
    example: {
      formula: "a = 1 < close < 2",
      shows: [
        "E110 made.factors:1:15: comparisons do not chain",
        "  | a = 1 < close < 2",
        "  |               ^ write `a < b && b < c`, or use parentheses",
      ],
    },
  },
  {
    code: "E111",
    class: "formula",
    title: "A number that is too large",
    happened: "A number of the text is larger than the largest double.",
    toDo: "Write a smaller number.",
    example: {
      formula: "a = close * 1e999",
      shows: [
        "E111 made.factors:1:13: 1e999 is too large for a number",
        "  | a = close * 1e999",
        "  |             ^^^^^ the largest number is about 1.8e308",
      ],
    },
  },
  {
    code: "E112",
    class: "formula",
    title: "More expressions than a file may have",
    happened:
      "With all definitions expanded, the file has more than 8,000,000 expressions. Definitions that use definitions twice double at each step.",
    toDo: "Give repeated parts a name with let without parameters, or split the file.",
    example: {
      program: [
        'const doubled = Array.from({ length: 23 }, (_, i) => "let f" + (i + 1) + "(x) = f" + i + "(x) + f" + i + "(x)");',
        'compile(["let f0(x) = x", ...doubled, "a = f23(close)"].join("\\n"))',
      ],
      shows: [
        "E112 formulas:21:14: the file has more than 8000000 expressions once its definitions are expanded",
        "  | let f20(x) = f19(x) + f19(x)",
        "  |              ^^^^^^^^^^^^^^^ give repeated parts a name with let, or split the file",
      ],
    },
  },
];
