import type { ErrorEntry } from "./entry.ts";

const OPEN =
  'const session = await engine.open(program, { symbols: ["A", "B"], time: { name: "day", type: { kind: "integer", bits: 64 } }, revisable: true });';

/** Bars of sessions. */
export const BARS: readonly ErrorEntry[] = [
  {
    code: "E371",
    class: "data",
    title: "A bar that is not later than the last one",
    happened: "A pushed bar has the time of the last one, or an earlier time.",
    toDo: "Push bars in the order of their times; revise replaces the newest bar.",
    example: {
      program: [
        OPEN,
        "await session.push({ time: 1, fields: { close: [10, 20] } });",
        "await session.push({ time: 1, fields: { close: [10, 20] } });",
      ],
      shows: [
        "E371 a bar of 1 comes after one of 1",
        "  push bars in the order of their times, each time once; revise replaces the newest bar",
      ],
    },
  },
  {
    code: "E372",
    class: "data",
    title: "A time that does not fit the session's time column",
    happened:
      "The time of a bar is neither a Date nor a whole number in units of the session's time column (nanoseconds, for example, where it counts milliseconds), or a panel has times of another type.",
    toDo: "Give it in units of the session's time type or as a Date, or open the session with the time column of its bars.",
    example: {
      program: [
        'const session = await engine.open(program, { symbols: ["A"] });',
        "await session.push({ time: 1704196800000000000n, fields: { close: [10] } })",
      ],
      shows: [
        "E372 the time of a bar is 1704196800000000000, beyond the year 9999; the session's times are a timestamp (time zone UTC) in ms",
        '  it is 2024-01-02 12:00:00Z in ns: convert it, or open the session with time.type.unit "ns"',
      ],
    },
  },
  {
    code: "E373",
    class: "data",
    title: "A symbol that the session does not have",
    happened: "A bar, or the groups of new symbols, name an unknown symbol.",
    toDo: "Correct the name, or add the symbol: await session.addSymbols([...]).",
    example: {
      program: [OPEN, 'await session.push({ time: 1, symbols: ["C"], fields: { close: [10] } })'],
      shows: [
        'E373 the session has no symbol "C"',
        "  give it to open, or add it: await session.addSymbols([...])",
      ],
    },
  },
  {
    code: "E374",
    class: "data",
    title: "A bar without a column",
    happened: "A bar lacks a field or a group column that the formulas read.",
    toDo: "Give all fields that the formulas read, with null where there is no value; groups that stay are an option of open.",
    example: {
      program: [OPEN, "await session.push({ time: 1, fields: { open: [10, 20] } })"],
      shows: [
        "E374 the bar has no field close",
        "  give all fields that the formulas read, with null where there is no value",
      ],
    },
  },
  {
    code: "E375",
    class: "data",
    title: "A column of a wrong length",
    happened: "The number of values of a field or group column is not that of the bar's symbols.",
    toDo: "Give one value per symbol, in the order of session.symbols or of the bar's own symbols.",
    example: {
      program: [OPEN, "await session.push({ time: 1, fields: { close: [10] } })"],
      shows: [
        "E375 close has 1 value, the bar has 2 symbols",
        "  give one value per symbol, in the order of session.symbols or of the bar's own symbols",
      ],
    },
  },
  {
    code: "E376",
    class: "data",
    title: "No bar to revise",
    happened: "No bar can be replaced: none was pushed yet, or the state before the newest is not kept.",
    toDo: "Call revise after a push that has succeeded.",
    example: {
      program: [OPEN, "await session.revise({ time: 1, fields: { close: [10, 20] } })"],
      shows: [
        "E376 there is no bar to revise: no bar has been pushed",
        "  revise follows a push that has succeeded",
      ],
    },
  },
  {
    code: "E377",
    class: "data",
    title: "An unknown group column",
    happened: "Groups of new symbols name a column that the session does not have.",
    toDo: "Correct the name; the session has the group columns that it was opened with.",
    example: {
      program: [OPEN, 'await session.addSymbols(["C"], { sector: { C: "tech" } })'],
      shows: ["E377 the session has no group column sector", "  its group columns: none"],
    },
  },
  {
    code: "E378",
    class: "data",
    title: "A revision of another time",
    happened: "revise is given a bar of another time than the newest.",
    toDo: "Give revise a bar of the newest time; push takes later ones.",
    example: {
      program: [
        OPEN,
        "await session.push({ time: 1, fields: { close: [10, 20] } });",
        "await session.revise({ time: 2, fields: { close: [10, 20] } })",
      ],
      shows: [
        "E378 a bar of 2 cannot replace the newest one, of 1",
        "  revise takes a bar of the newest time alone",
      ],
    },
  },
  {
    code: "E381",
    class: "data",
    title: "An invalid symbol",
    happened: "A symbol is not a text, or is empty.",
    toDo: "Give each symbol as a text that is not empty.",
    example: {
      program: [OPEN, 'await session.addSymbols([""])'],
      shows: [
        'E381 symbols[0] is "", not the name of an instrument',
        "  give each symbol as a text that is not empty",
      ],
    },
  },
  {
    code: "E382",
    class: "data",
    title: "A symbol that is given twice",
    happened: "A list has a symbol twice, or one that the session has already.",
    toDo: "Give each symbol once.",
    example: {
      program: [OPEN, 'await session.addSymbols(["A"])'],
      shows: ['E382 the symbol "A" is given twice', "  give each symbol once"],
    },
  },
  {
    code: "E383",
    class: "data",
    title: "A value of a wrong type in a bar",
    happened:
      "A field has a value that is neither a number nor null, or a group column one that is neither a text nor null; or a field that is the same for all symbols has two values.",
    toDo: "Give numbers or null for fields, texts or null for groups.",
    example: {
      program: [OPEN, 'await session.push({ time: 1, fields: { close: [10, "20"] } })'],
      shows: ['E383 close holds "20", not a number', "  give a number, or null"],
    },
  },
  {
    code: "E384",
    class: "data",
    title: "Another group for a known symbol",
    happened: "addSymbols, or open with a checkpoint, gives a symbol of the session another label.",
    toDo: "Give the labels of new symbols alone; labels that change come with the bars.",
    example: {
      program: [
        'const sectors = compile("a = group_rank(close, sector)");',
        'const session = await engine.open(sectors, { symbols: ["A"], groups: { sector: { A: "tech" } } });',
        'await session.addSymbols(["B"], { sector: { A: "oil", B: "oil" } })',
      ],
      shows: [
        'E384 "A" is in the session already, with another sector',
        "  give the labels of new symbols alone; a sector that changes comes with the bars: { time, fields, groups }",
      ],
    },
  },
  {
    code: "E385",
    class: "data",
    title: "Two results with times of different types",
    happened: "diff compares rows by time, and the times of the two files are of different types.",
    toDo: "Write both results with times of one type.",
    example: {
      files: { "old.csv": "time,symbol,a\n2024-01-02,A,1\n", "new.csv": "time,symbol,a\n1,A,1\n" },
      commands: ["factorloom diff old.csv new.csv"],
      shows: [
        "E385 each time of the first result is a date (YYYY-MM-DD), each time of the second an integer of 64 bits",
        "  write both with times of one type",
      ],
    },
  },
  {
    code: "E386",
    class: "data",
    title: "Two results with nothing in common",
    happened: "diff found no factor, or no time and symbol, that both files have.",
    toDo: "Give two results of the same factors and bars.",
    example: {
      files: { "old.csv": "date,symbol,a\n2024-01-02,A,1\n", "new.csv": "date,symbol,b\n2024-01-02,A,1\n" },
      commands: ["factorloom diff old.csv new.csv"],
      shows: ["E386 the two results have no factor in common", "  factors are compared by name"],
    },
  },
];
