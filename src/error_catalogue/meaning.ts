import type { ErrorEntry } from "./entry.ts";

/** Names, types and settings of formulas. */
export const MEANING: readonly ErrorEntry[] = [
  {
    code: "E201",
    class: "formula",
    title: "An unknown function",
    happened: "A called name is neither an operator of the dialect nor a let with parameters.",
    toDo: "Correct the name; factorloom ops lists all operators.",
    example: {
      formula: "a = rnak(close)",
      shows: [
        "E201 made.factors:1:5: unknown function rnak",
        "  | a = rnak(close)",
        "  |     ^^^^ did you mean rank?",
      ],
    },
  },
  {
    code: "E202",
    class: "formula",
    title: "Arguments that the function does not have",
    happened:
      "A call has too few or too many arguments, one that is given twice, or a name that is no parameter; or a let with parameters is used without them.",
    toDo: "Give the arguments of the signature in the message.",
    example: {
      formula: "a = ts_mean(close)",
      shows: [
        "E202 made.factors:1:5: ts_mean expects 2 arguments, got 1",
        "  | a = ts_mean(close)",
        "  |     ^^^^^^^ it reads ts_mean(x, d)",
      ],
    },
  },
  {
    code: "E203",
    class: "formula",
    title: "A setting out of its range",
    happened:
      "A window, delay, min_periods or constant is not finite, not whole where rows are counted, or outside the range in the message.",
    toDo: "Write a number of that range.",
    example: {
      formula: "a = ts_mean(close, 0)",
      shows: [
        "E203 made.factors:1:20: ts_mean expects a window of 1..65536 rows, got 0",
        "  | a = ts_mean(close, 0)",
        "  |                    ^ use 1 for no smoothing",
      ],
    },
  },
  {
    code: "E204",
    class: "formula",
    title: "A value of a wrong type",
    happened:
      "An argument or operand must be a series, a condition, a group column or a text, and is another of these.",
    toDo: "Put a value of the type there that the message names.",
    example: {
      formula: "a = rank(sector)",
      shows: [
        "E204 made.factors:1:10: rank expects a series as x, got the group column sector",
        "  | a = rank(sector)",
        "  |          ^^^^^^ use a field or a formula; a column that holds text is a group",
      ],
    },
  },
  {
    code: "E205",
    class: "formula",
    title: "An unknown name",
    happened:
      "A name is no definition, param, field or group column. Without data the fields are those that most bars have; with data they are its columns.",
    toDo: "Correct the name, or say which fields there are (--data, --fields, the option fields).",
    example: {
      formula: "a = rank(clsoe)",
      shows: [
        "E205 made.factors:1:10: unknown name clsoe",
        "  | a = rank(clsoe)",
        "  |          ^^^^^ did you mean close?",
      ],
    },
  },
  {
    code: "E206",
    class: "formula",
    title: "A look ahead",
    happened: "A delay is negative: the value would come from later rows.",
    toDo: "Delays count back from the current row: use 0 or more.",
    example: {
      formula: "a = delay(close, -1)",
      shows: [
        "E206 made.factors:1:18: delay by -1 rows would look ahead",
        "  | a = delay(close, -1)",
        "  |                  ^^ delays count back from the current row: use 0 or more",
      ],
    },
  },
  {
    code: "E207",
    class: "formula",
    title: "A name that is defined twice",
    happened:
      "Two definitions, or two parameters of a definition, have one name; letter case does not distinguish them, since factors become columns.",
    toDo: "Rename one of them.",
    example: {
      formula: "a = close\nA = open",
      shows: [
        "E207 made.factors:2:1: A and a differ in letter case only",
        "  | A = open",
        "  | ^ the first definition stands in line 1; rename one",
      ],
    },
  },
  {
    code: "E208",
    class: "formula",
    title: "A definition that uses itself",
    happened: "Definitions use each other in a circle.",
    toDo: "Break the circle: a definition may only use others.",
    example: {
      formula: "let a = b\nlet b = a\nc = a",
      shows: [
        "E208 made.factors:1:5: a uses itself: a -> b -> a",
        "  | let a = b",
        "  |     ^ a definition may only use others",
      ],
    },
  },
  {
    code: "E209",
    class: "formula",
    title: "A defined name with $",
    happened: "In dialect qlib $ stands before fields, and a definition has such a name.",
    toDo: "Write the name without $.",
    example: {
      formula: "dialect qlib\n$spread = $high - $low",
      shows: [
        "E209 made.factors:2:1: $spread cannot be defined: $ stands before fields",
        "  | $spread = $high - $low",
        "  | ^^^^^^^ write spread",
      ],
    },
  },
  {
    code: "E210",
    class: "formula",
    title: "A setting that is not known in advance",
    happened:
      "A window, delay or constant depends on a param or on data, and plans are made before either is known.",
    toDo: "Write a number, or a let that is one.",
    example: {
      formula: "param days = 5\na = ts_mean(close, days)",
      shows: [
        "E210 made.factors:2:20: ts_mean expects a number known in advance as d, got a param: it may differ from call to call",
        "  | a = ts_mean(close, days)",
        "  |                    ^^^^ write a number",
      ],
    },
  },
  {
    code: "E213",
    class: "formula",
    title: "A condition of a block that cannot be decided",
    happened:
      "A when compares something else than params and literals, or texts in another way than by == and !=.",
    toDo: "Use params, numbers and texts only; conditions over data belong into the formula: c ? x : null.",
    example: {
      formula: "when close > 1 {\n  a = close\n}",
      shows: [
        "E213 made.factors:1:6: close is not a param: conditions are evaluated once per call, from params alone",
        "  | when close > 1 {",
        "  |      ^^^^^ declare it: param close = ...",
      ],
    },
  },
  {
    code: "E216",
    class: "formula",
    title: "SELF in a wrong place",
    happened: "A recursion is not linear in SELF: it stands inside a function, or is multiplied with itself.",
    toDo: "SELF may stand alone, times something, plus something, or in the branches of ?:.",
    example: {
      formula: "dialect gtja191\na = RANK(SELF)",
      shows: [
        "E216 made.factors:2:5: SELF may stand alone, times something, plus something, or in the branches of ?:",
        "  | a = RANK(SELF)",
        "  |     ^^^^^^^^^^ e.g. c ? x * SELF + y : SELF",
      ],
    },
  },
  {
    code: "E218",
    class: "formula",
    title: "A universe that is no series",
    happened: "The definition that --universe names takes arguments, or is a group column or a text.",
    toDo: "Name a definition or a field with one value per symbol and time.",
    example: {
      program: ['compile("let liquid(x) = x > 1\\na = rank(close)", { universe: "liquid" })'],
      shows: [
        "E218 formulas:1:1: the universe liquid takes arguments",
        "  | let liquid(x) = x > 1",
        "  | ^^^^^^^^^^^^^^^^^^^^^ give it one value per symbol and time",
      ],
    },
  },
  {
    code: "E219",
    class: "formula",
    title: "A call of something that is not a function",
    happened: "A field, a param or a definition without parameters is written with parentheses.",
    toDo: "Use it without parentheses; ts_mean(x, d) and the like are functions.",
    example: {
      formula: "a = close(5)",
      shows: [
        "E219 made.factors:1:5: close is not a function",
        "  | a = close(5)",
        "  |     ^^^^^ use it without parentheses",
      ],
    },
  },
  {
    code: "E220",
    class: "formula",
    title: "A definition with the name of an operator",
    happened: "A let with parameters has the name or an alias of an operator.",
    toDo: "Choose another name.",
    example: {
      formula: "let rank(x) = x\na = rank(close)",
      shows: [
        "E220 made.factors:1:5: rank is the name of an operator",
        "  | let rank(x) = x",
        "  |     ^^^^ choose another name",
      ],
    },
  },
  {
    code: "E221",
    class: "formula",
    title: "A dialect that is stated twice",
    happened: "The file has two dialect statements.",
    toDo: "Remove one of them.",
    example: {
      formula: "dialect native\ndialect native\na = close",
      shows: [
        "E221 made.factors:2:1: the dialect is stated twice",
        "  | dialect native",
        "  | ^^^^^^^^^^^^^^ remove this line",
      ],
    },
  },
];
