import type { ErrorEntry } from "./entry.ts";

/** What `check --strict` finds. */
export const SUSPICIONS: readonly ErrorEntry[] = [
  {
    code: "S601",
    class: "suspicion",
    title: "Two factors that are equal",
    happened: "The formulas of two factors compute the same, as far as the laws of operators show.",
    toDo: "Leave one out, or correct the one that was meant to differ.",
    example: {
      formula: "a = close + open\nb = open + close",
      shows: ["S601 made.factors:2:1: b equals a", "  | b = open + close", "  | ^ leave one out"],
    },
  },
  {
    code: "S602",
    class: "suspicion",
    title: "A factor without data",
    happened: "The formula reads no field: it is the same for all symbols and times.",
    toDo: "Use a field, or leave the factor out.",
    example: {
      formula: "a = 1 + 2",
      shows: [
        "S602 made.factors:1:1: a does not depend on any field",
        "  | a = 1 + 2",
        "  | ^ it is the same everywhere",
      ],
    },
  },
  {
    code: "S603",
    class: "suspicion",
    title: "A factor of all history",
    happened:
      "An operator remembers everything since the first row, so that values depend on where the data begins.",
    toDo: "Keep it if that is meant; an operator with a window forgets.",
    example: {
      formula: "a = ema(close, 10)",
      shows: [
        "S603 made.factors:1:1: a depends on all of history through ema",
        "  | a = ema(close, 10)",
        "  | ^ its values depend on where history starts",
      ],
    },
  },
  {
    code: "S604",
    class: "suspicion",
    title: "Mixed units",
    happened:
      "Something of one unit is added to or compared with something of another, such as a price with a volume.",
    toDo: "Bring both sides to one unit, by a ratio or a rank, or allow it.",
    example: {
      formula: "a = close + volume",
      shows: [
        "S604 made.factors:1:5: '+' of price and volume",
        "  | a = close + volume",
        "  |     ^^^^^^^^^^^^^^ are both sides meant to have one unit?",
      ],
    },
  },
  {
    code: "S605",
    class: "suspicion",
    title: "Zero by zero",
    happened: "A quotient of zeros is null everywhere.",
    toDo: "Correct numerator or denominator.",
    example: {
      formula: "a = (close - close) / (open - open)",
      shows: [
        "S605 made.factors:1:5: divides zero by zero on every row",
        "  | a = (close - close) / (open - open)",
        "  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is null everywhere",
        "S607 made.factors:1:6: '-' of equal operands is 0 wherever it is not null",
        "  | a = (close - close) / (open - open)",
        "  |      ^^^^^^^^^^^^^ is one of the operands meant to be another one?",
        "S607 made.factors:1:24: '-' of equal operands is 0 wherever it is not null",
        "  | a = (close - close) / (open - open)",
        "  |                        ^^^^^^^^^^^ is one of the operands meant to be another one?",
      ],
    },
  },
  {
    code: "S606",
    class: "suspicion",
    title: "An operand that is null",
    happened: "The literal null makes the result null everywhere; a comparison with null is never true.",
    toDo: "Write is_null(x) or !is_null(x) for a comparison; leave the null out elsewhere.",
    example: {
      formula: "a = close == null ? 1 : 2",
      shows: [
        "S606 made.factors:1:5: '==' with null is null, never true: null is not even equal to itself",
        "  | a = close == null ? 1 : 2",
        "  |     ^^^^^^^^^^^^^ write is_null(x) or !is_null(x)",
      ],
    },
  },
  {
    code: "S607",
    class: "suspicion",
    title: "The same value whatever the data are",
    happened: "An operator gives one value wherever it is not null, mostly because its operands are equal.",
    toDo: "See whether one of the operands was meant to be another one.",
    example: {
      formula: "a = close / close",
      shows: [
        "S607 made.factors:1:5: '/' of equal operands is 1 wherever it is not null",
        "  | a = close / close",
        "  |     ^^^^^^^^^^^^^ is one of the operands meant to be another one?",
      ],
    },
  },
  {
    code: "S608",
    class: "suspicion",
    title: "A choice between equals",
    happened: "An operator chooses between, or returns one of, equal operands: it changes nothing.",
    toDo: "See whether one of them was meant to be another one, or leave the operator out.",
    example: {
      formula: "a = close > open ? high : high",
      shows: [
        "S608 made.factors:1:5: '?:' gives the same whatever its condition is",
        "  | a = close > open ? high : high",
        "  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ is one of them meant to be another one?",
      ],
    },
  },
  {
    code: "S609",
    class: "suspicion",
    title: "A window that gives the same everywhere",
    happened:
      "A rolling operator over too few rows, or over equal series, has one value wherever it is not null.",
    toDo: "Give it more rows, or another series.",
    example: {
      formula: "a = ts_rank(close, 1)",
      shows: [
        "S609 made.factors:1:5: ts_rank of 1 row is 1 wherever it is not null",
        "  | a = ts_rank(close, 1)",
        "  |     ^^^^^^^^^^^^^^^^^ give it more rows",
      ],
    },
  },
  {
    code: "S610",
    class: "suspicion",
    title: "A condition that is the same everywhere",
    happened:
      "The condition of a choice has one value whatever the data are, so that one branch is never taken.",
    toDo: "Write what it chooses, or correct the condition.",
    example: {
      formula: "a = 2 > 1 ? close : open",
      shows: [
        "S610 made.factors:1:5: the condition of '?:' is 1 wherever it is not null",
        "  | a = 2 > 1 ? close : open",
        "  |     ^^^^^^^^^^^^^^^^^^^^ write what it chooses, or correct the condition",
      ],
    },
  },
];
