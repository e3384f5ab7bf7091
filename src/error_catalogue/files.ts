import type { ErrorEntry } from "./entry.ts";

/** The files of bars, groups and series. */
export const FILES: readonly ErrorEntry[] = [
  {
    code: "E301",
    class: "data",
    title: "No such file",
    happened: "A path of bars, groups or series leads to nothing.",
    toDo: "Correct the path; it is relative to the working folder.",
    example: {
      program: ['await readPanel("none.csv")'],
      shows: ["E301 none.csv: there is no such file", "  check the path and the working directory"],
    },
  },
  {
    code: "E302",
    class: "data",
    title: "A file of an unknown kind",
    happened: "The extension is none of those that can be read.",
    toDo: "Use .csv, .csv.gz, .tsv, .parquet, .arrow, .feather or .ipc, or a folder of .parquet or of Arrow files.",
    example: {
      program: ['await readPanel("made.xlsx")'],
      files: {
        "made.xlsx": "x",
      },
      shows: [
        "E302 made.xlsx: this kind of file is not known",
        "  use a .csv, .csv.gz, .tsv, .parquet, .arrow, .feather or .ipc file, or a folder of .parquet or of Arrow files",
      ],
    },
  },
  {
    code: "E303",
    class: "data",
    title: "A file whose content cannot be read",
    happened:
      "The file is damaged, truncated, changed while it was read, or of another format than its extension says.",
    toDo: "Check that the file is complete and that its extension fits its content.",
    example: {
      program: ['await readPanel("made.parquet")'],
      files: {
        "made.parquet": "date,symbol\n",
      },
      shows: [
        "E303 made.parquet: cannot be read as Parquet (No magic bytes found at end of file)",
        "  check that the file is complete and that its extension fits its content",
      ],
    },
  },
  {
    code: "E304",
    class: "data",
    title: "A file without rows",
    happened: "The file is empty, or has a header and nothing below.",
    toDo: "Give a table with at least one row.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,symbol,close\n",
      },
      shows: ["E304 made.csv: has no rows", "  give a table with at least one row below its header"],
    },
  },
  {
    code: "E305",
    class: "data",
    title: "A line of a CSV that cannot be read",
    happened:
      "A line has more or fewer cells than the header, a quote that is not closed, another line end than the others, or text that is not UTF-8.",
    toDo: "Correct the line in the message; cells that hold the delimiter need quotes. Convert a file that is not UTF-8, with iconv for example.",
    example: {
      program: ['await readPanel("made.csv")'],
      files: {
        "made.csv": "date,symbol,close\n2024-01-02,A,1,2\n",
      },
      shows: [
        "E305 made.csv: line 2: has 4 cells, the header has 3",
        '  give every line as many cells as the header has; cells that hold the delimiter need "quotes"',
      ],
    },
  },
  {
    code: "E306",
    class: "data",
    title: "A folder that cannot be read as one table",
    happened: "A folder of bars holds no file that can be read, or files of several kinds.",
    toDo: "Keep only .parquet files in it, or only Arrow files; names that start with . or _ are ignored.",
    example: {
      program: ['await readPanel("made")'],
      files: {
        "made/a.parquet": "x",
        "made/b.arrow": "x",
      },
      shows: [
        "E306 made: holds files of several kinds, a.parquet and b.arrow",
        "  keep only .parquet files in it, or only Arrow files; names that start with . or _ are passed over",
      ],
    },
  },
  {
    code: "E307",
    class: "data",
    title: "No such database",
    happened: "The DuckDB file that a job reads does not exist.",
    toDo: "Check the path of source.duckdb.database.",
    example: {
      commands: ["factorloom run jobs.yaml --once", "factorloom status jobs.yaml"],
      files: {
        "jobs.yaml":
          "journal: journal\nlog: { level: silent }\njobs:\n  - name: j\n    formulas: { files: a.factors }\n    source: { duckdb: { database: none.duckdb, query: 'SELECT 1' } }\n    sink: { arrow: out }\n    schedule: { cron: \"0 0 * * *\" }\n",
      },
      shows: ["E307 none.duckdb: there is no such database", "  check the path"],
    },
  },
  {
    code: "E308",
    class: "data",
    title: "Files of a folder whose columns differ",
    happened: "A file of a folder has other columns, another order or other types than the first one.",
    toDo: "Give all files of a folder the same columns, in the same order and of the same types.",
    example: {
      program: [
        'await engine.evaluate(program, bars).then((table) => writeTable(table, "made/1.arrow"));',
        'await engine.evaluate(compile("b = close"), bars).then((table) => writeTable(table, "made/2.arrow"));',
        'await readPanel("made")',
      ],
      files: {
        "made/.keep": "",
      },
      shows: [
        'E308 made/2.arrow: its columns are not those of made/1.arrow: "b" stands where the other has "a"',
        "  give all files of a folder the same columns, in the same order and of the same types",
      ],
    },
  },
  {
    code: "E309",
    class: "data",
    title: "A file that cannot be opened",
    happened:
      "The system refuses to read what is at the path, or it is not a file; or the file of a checkpoint, or the folder of a job, does not exist.",
    toDo: "Check the path and the permissions.",
    example: {
      program: ['await readCheckpoint("none.checkpoint")'],
      shows: [
        "E309 none.checkpoint: cannot be opened (ENOENT: no such file or directory, open 'none.checkpoint')",
        "  give the path of a checkpoint that was written with writeCheckpoint",
      ],
    },
  },
  {
    code: "E310",
    class: "data",
    title: "A query that fails",
    happened: "DuckDB refuses the query of a job.",
    toDo: "Try the query in DuckDB and correct it.",
    example: {
      commands: [
        "factorloom run made.yaml --once",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      files: {
        "made.yaml":
          'journal: other\nlog: { level: silent }\njobs:\n  - name: daily\n    formulas: a.factors\n    source: { folder: inbox }\n    sink: { duckdb: { database: made.duckdb, table: factors } }\n    schedule: { cron: "0 18 * * *" }\n',
        "jobs.yaml":
          "journal: journal\nlog: { level: silent }\njobs:\n  - name: j\n    formulas: { files: a.factors }\n    source: { duckdb: { database: made.duckdb, query: 'SELECT * FROM nothing' } }\n    sink: { arrow: out }\n    schedule: { cron: \"0 0 * * *\" }\n",
      },
      shows: [
        "E310 made.duckdb: the query fails: Table with name nothing does not exist!",
        "  try it in DuckDB",
      ],
    },
  },
];
