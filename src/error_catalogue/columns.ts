import type { ErrorEntry } from "./entry.ts";

/** The columns and rows of bars, groups and series. */
export const COLUMNS: readonly ErrorEntry[] = [
  {
    code: "E311",
    class: "data",
    title: "No time column",
    happened: "No column is called time, date, datetime or timestamp, or the named one does not exist.",
    toDo: "Rename it, or name it with --time-column or timeColumn.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "day,symbol,close\n2024-01-02,A,1\n",
      },
      shows: [
        "E311 made.csv: no time column among the columns day, symbol, close",
        "  name it time, date, datetime or timestamp, or say which column it is (--time-column; timeColumn in the library)",
      ],
    },
  },
  {
    code: "E312",
    class: "data",
    title: "No symbol column",
    happened: "No column is called symbol, or the named one does not exist.",
    toDo: "Rename it, or name it with --symbol-column or symbolColumn.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,ticker,close\n2024-01-02,A,1\n",
      },
      shows: [
        "E312 made.csv: no symbol column among the columns date, ticker, close",
        "  name it symbol, or say which column it is (--symbol-column; symbolColumn in the library)",
      ],
    },
  },
  {
    code: "E313",
    class: "data",
    title: "Several columns that could be the time",
    happened: "More than one column has a name of the time column.",
    toDo: "Say which one it is (--time-column, timeColumn), or drop the others.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,time,symbol,close\n2024-01-02,1,A,1\n",
      },
      shows: [
        "E313 made.csv: the columns date, time could each be the time column",
        "  say which one it is (--time-column; timeColumn in the library), or drop the others; join a date and a time of day into one column",
      ],
    },
  },
  {
    code: "E314",
    class: "data",
    title: "Columns that differ at most by case",
    happened: "The names of two columns differ in letter case only, which formulas ignore.",
    toDo: "Rename or drop one of them.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,symbol,close,Close\n2024-01-02,A,1,2\n",
      },
      shows: [
        'E314 made.csv: the columns "close" and "Close" have names that differ at most by case',
        "  rename or drop one of them",
      ],
    },
  },
  {
    code: "E315",
    class: "data",
    title: "A column of a type that is not read",
    happened:
      "Times are of a type that holds no times, symbols of one that is neither text nor integer, or a column has integers of more than 64 bits or decimals of more than 38 digits.",
    toDo: "Store times as dates, timestamps or integers, symbols as text or integers, numbers as doubles, integers of 64 bits or narrower decimals.",
    example: {
      program: [
        'await writeTable(await engine.evaluate(compile("time = close"), bars), "made.arrow");',
        'await readPanel("made.arrow", { timeColumn: "time" })',
      ],
      shows: [
        'E315 made.arrow: the time column "time" has type Float64',
        "  make it a date, a timestamp or a 32/64-bit integer",
      ],
    },
  },
  {
    code: "E316",
    class: "data",
    title: "A text that is not a time like the others",
    happened: "A cell of the time column is no time, or written in another way than the cells before.",
    toDo: "Write all times alike.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,symbol,close\n2024-01-02,A,1\nyesterday,A,2\n",
      },
      shows: [
        'E316 made.csv: the time column "date" has "yesterday" in row 2 (line 3), which is not a date like the others',
        "  write all times alike: 2013-02-08, 2013-02-08 09:30:00, 2013-02-08 09:30:00+00, or an integer",
      ],
    },
  },
  {
    code: "E317",
    class: "data",
    title: "Text among numbers",
    happened: "A column of numbers has a cell that is no number.",
    toDo: "Leave the cell empty where a value is missing, or drop the column.",
    example: {
      program: ['await engine.evaluate(program, await readPanel("made.csv"))'],
      files: {
        "made.csv": "date,symbol,close\n2024-01-02,A,1\n2024-01-03,A,n/a\n2024-01-04,A,1\n",
      },
      shows: [
        'E317 made.csv: the column "close" holds numbers, but "n/a" in row 2 (line 3)',
        "  leave the cell empty where a value is missing, or drop the column",
      ],
    },
  },
  {
    code: "E318",
    class: "data",
    title: "A symbol that is no whole number",
    happened:
      "A column of numbers is used as symbols, and one of them is not whole, or so large that it may have been rounded.",
    toDo: "Write symbols as text or as integers.",
    example: {
      program: [
        'await writeTable(await engine.evaluate(compile("id = close / 3"), bars), "made.arrow");',
        'await readPanel("made.arrow", { symbolColumn: "id" })',
      ],
      shows: [
        'E318 made.arrow: the symbol column "id" has 3.6666666666666665 in row 1, which is no whole number that a double holds',
        "  write symbols as text or as integers",
      ],
    },
  },
  {
    code: "E321",
    class: "data",
    title: "A row without a time or symbol",
    happened: "A cell of the time or symbol column is empty.",
    toDo: "Fill it in or drop the row.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,symbol,close\n,A,1\n",
      },
      shows: [
        'E321 made.csv: the time column "date" is empty in row 1 (line 2)',
        "  every row needs a time; fill it in or drop the row",
      ],
    },
  },
  {
    code: "E322",
    class: "data",
    title: "Several rows for one time and symbol",
    happened:
      "Two rows have the same time and symbol (of series: the same time), so that it is not known which one counts. Times that are finer than what is read fall together, too; the message then names the cut.",
    toDo: "Keep one row per time and symbol.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,symbol,close\n2024-01-02,A,1\n2024-01-02,A,2\n",
      },
      shows: [
        'E322 made.csv: row 1 (line 2) and row 2 (line 3) are both for "A" at 2024-01-02',
        "  keep one row per time and symbol",
      ],
    },
  },
  {
    code: "E323",
    class: "data",
    title: "An infinite time",
    happened: "A cell of the time column is a date or timestamp of infinity.",
    toDo: "Correct the time or drop the row.",
    example: {
      situation: "a Parquet file that DuckDB wrote with 'infinity'::DATE",
      notRun: "no text of a CSV gives an infinite date; test/data/read_errors.test.ts makes such a file",
    },
  },
  {
    code: "E331",
    class: "data",
    title: "Groups without a group column, series without a number",
    happened:
      "The table of groups has no column besides the symbol, or the table of series none of numbers besides the time: one cell of text makes a column text.",
    toDo: "Add a column of text or integers for groups, for example sector; one of numbers for series.",
    example: {
      program: ['await readPanel("bars.csv", { groups: "made.csv" })'],
      files: {
        "made.csv": "symbol\nA\nB\n",
      },
      shows: [
        "E331 made.csv: no group column beside the symbol among the columns symbol",
        "  add a column of text or integers, for example sector",
      ],
    },
  },
  {
    code: "E332",
    class: "data",
    title: "Several groups for one symbol",
    happened:
      "The table of groups has two rows for a symbol, and a group given there is the same at all times.",
    toDo: "Keep one row per symbol; groups that change stand as a text column among the bars.",
    example: {
      program: ['await readPanel("bars.csv", { groups: "made.csv" })'],
      files: {
        "made.csv": "symbol,sector\nA,x\nA,y\n",
      },
      shows: [
        'E332 made.csv: row 1 (line 2) and row 2 (line 3) are both for "A"',
        "  keep one row per symbol: a group given here is the same at all times",
      ],
    },
  },
  {
    code: "E333",
    class: "data",
    title: "A column that both tables have",
    happened:
      "A column of the groups or the series has the name of a column of the bars. A symbol column among series is one, too: a series has one number per time, for all symbols.",
    toDo: "Rename or drop one of them. Give numbers of each symbol as columns of the bars, labels of each symbol as groups.",
    example: {
      program: ['await readPanel("bars.csv", { groups: "made.csv" })'],
      files: {
        "made.csv": "symbol,close\nA,x\nB,y\n",
      },
      shows: [
        'E333 made.csv: the column "close" is also a column of bars.csv ("close")',
        "  rename or drop one of them",
      ],
    },
  },
  {
    code: "E334",
    class: "data",
    title: "Series with times of another kind",
    happened:
      "The times of the series are of another type than those of the bars, dates and timestamps for example.",
    toDo: "Write the times of both files alike.",
    example: {
      program: ['await readPanel("bars.csv", { series: "made.csv" })'],
      files: {
        "made.csv": "date,index\n1,100\n2,101\n",
      },
      shows: [
        "E334 made.csv: its times are of another kind (an integer of 64 bits) than those of bars.csv (a date (YYYY-MM-DD))",
        "  write the times of both files alike",
      ],
    },
  },
  {
    code: "E335",
    class: "data",
    title: "A renamed column that does not exist",
    happened: "--field or rename names a column that the file does not have.",
    toDo: "Name one of the columns in the message.",
    example: {
      program: ['await readPanel("bars.csv", { rename: { close: "last" } })'],
      shows: [
        'E335 bars.csv: no column "last" to be called "close"',
        "  its columns are open, high, low, close, volume",
      ],
    },
  },
  {
    code: "E336",
    class: "data",
    title: "A name that a column has already",
    happened: "--field or rename gives a column the name of another one.",
    toDo: "Rename that one too, or use it as it is.",
    example: {
      program: ['await readPanel("bars.csv", { rename: { close: "open" } })'],
      shows: [
        'E336 bars.csv: "open" cannot be called "close": there is a column of that name',
        '  rename that one too, or use "close" as it is',
      ],
    },
  },
  {
    code: "E337",
    class: "data",
    title: "Groups that match no symbol",
    happened: "No symbol of the groups is a symbol of the bars: they are written in different ways.",
    toDo: "Write symbols alike in both files.",
    example: {
      program: ['await readPanel("bars.csv", { groups: "made.csv" })'],
      files: {
        "made.csv": "symbol,sector\nA.US,x\n",
      },
      shows: [
        'E337 made.csv: none of its symbols is one of bars.csv: it has "A.US", the other "A"',
        "  write symbols alike in both files",
      ],
    },
  },
  {
    code: "E338",
    class: "data",
    title: "Series that match no time",
    happened: "No time of the series is a time of the bars.",
    toDo: "Give series for the times of the bars.",
    example: {
      program: ['await readPanel("bars.csv", { series: "made.csv" })'],
      files: {
        "made.csv": "date,index\n1999-01-04,100\n",
      },
      shows: [
        "E338 made.csv: none of its times is one of bars.csv: it begins at 1999-01-04, the other at 2024-01-02",
        "  give series for the times of the bars",
      ],
    },
  },
];
