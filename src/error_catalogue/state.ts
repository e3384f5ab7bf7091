import type { ErrorEntry } from "./entry.ts";

/** Output, checkpoints, the input of jobs. */
export const STATE: readonly ErrorEntry[] = [
  {
    code: "E341",
    class: "data",
    title: "A factor with the name of a key column",
    happened: "A factor is called as the time or the symbol column of the output.",
    toDo: "Rename the factor.",
    example: {
      program: ['await engine.evaluate(compile("symbol = close"), bars)'],
      shows: ['E341 the factor "symbol" has the name of the output column "symbol"', "  rename the factor"],
    },
  },
  {
    code: "E342",
    class: "data",
    title: "No row between from and to",
    happened: "The data has no row in the stretch of time that was asked for.",
    toDo: "Choose from and to inside the range of the message.",
    example: {
      program: ['await engine.evaluate(program, bars, { from: "2030-01-01" })'],
      shows: [
        "E342 no row is left between the given from and to: the data runs from 2024-01-02 to 2024-01-03",
        "  choose from and to inside that range",
      ],
    },
  },
  {
    code: "E343",
    class: "data",
    title: "Output columns that differ only by case",
    happened:
      "A table has two columns whose names differ only by letter case, and the format of the output ignores it.",
    toDo: "Rename one of them, or write .arrow.",
    example: {
      situation: "writeTable of an Arrow table with the columns a and A to out.parquet",
      notRun:
        "files of formulas cannot define such factors; test/data/write/write_table.test.ts makes such a table",
    },
  },
  {
    code: "E344",
    class: "data",
    title: "No such time",
    happened: "The data have no row at the time that was asked for, or several times on that day.",
    toDo: "Give one of the times of the message.",
    example: {
      program: ['await engine.why(program, bars, { factor: "a", symbol: "A", time: "2030-01-01" })'],
      shows: ["E344 the data have no time 2030-01-01", "  the nearest are 2024-01-03"],
    },
  },
  {
    code: "E345",
    class: "data",
    title: "No such symbol",
    happened: "The data have no symbol of the name that was asked for.",
    toDo: "Give a symbol of the data; the message names the nearest.",
    example: {
      program: ['await engine.why(program, bars, { factor: "a", symbol: "Z", time: "2024-01-03" })'],
      shows: ["E345 the data have no symbol Z", "  symbols: A, B"],
    },
  },
  {
    code: "E346",
    class: "data",
    title: "No row of that symbol",
    happened: "The symbol has no row at the time that was asked for, so that there is no cell to explain.",
    toDo: "Ask for a time at which it has a row; the message names the nearest earlier one.",
    example: {
      situation: "engine.why for a symbol at a time of others",
      notRun: "it needs bars with a gap; test/reasons/why.test.ts makes such bars",
    },
  },
  {
    code: "E350",
    class: "data",
    title: "A column that the formulas read is not there",
    happened: "The panel lacks a field or a group column that a wanted factor reads.",
    toDo: "Add the column, or define the name in the formula file with let.",
    example: {
      program: ['await engine.evaluate(compile("a = group_rank(close, sector)"), bars)'],
      shows: [
        "E350 the panel has no group column sector",
        "  it has none; define sector in the formula file with let, or add the column",
      ],
    },
  },
  {
    code: "E351",
    class: "data",
    title: "A damaged checkpoint",
    happened:
      "The bytes of a checkpoint are not those that were written: cut short, changed, or no checkpoint at all.",
    toDo: "Take an older one, or start again from history.",
    example: {
      program: [
        "const checkpoint = Uint8Array.from({ length: 200 }, () => 1);",
        "await engine.open(program, { checkpoint })",
      ],
      shows: [
        "E351 the checkpoint is damaged: it does not start with its signature",
        "  take an older one, or start again from history",
      ],
    },
  },
  {
    code: "E352",
    class: "data",
    title: "A checkpoint of something else",
    happened:
      "The checkpoint is whole, and of other formulas, symbols or groups, or was taken with other code of the engine or of an operator.",
    toDo: "Open the session with the formulas and options it was taken with, or start again from history.",
    example: {
      program: [
        'const session = await engine.open(program, { symbols: ["A", "B"], time: { name: "day", type: { kind: "integer", bits: 64 } }, revisable: true });',
        "const checkpoint = await session.checkpoint();",
        'await engine.open(program, { symbols: ["A", "C"], checkpoint })',
      ],
      shows: [
        "E352 the checkpoint belongs to another session: the symbols differ",
        "  start again from history",
      ],
    },
  },
  {
    code: "E360",
    class: "data",
    title: "A damaged journal",
    happened: "The journal of a job is not as factorloom wrote it.",
    toDo: "Restore journal and sink together from one backup, or start the job under another name with a sink of its own.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        'sed -i "s/batch\\|prepared/spoilt/" journal/daily/journal.jsonl',
        "factorloom run jobs.yaml --once",
      ],
      shows: [
        "E360 journal/daily/journal.jsonl: the journal is damaged: line 3 does not agree with its checksum",
        "  restore journal and sink together from one backup, or start the job under another name with a sink of its own",
      ],
    },
  },
  {
    code: "E361",
    class: "data",
    title: "An input that changed after it was evaluated",
    happened: "A file whose rows are in the results has other content now.",
    toDo: "If the former content was right, put it back, and write new rows to a new file; if it was wrong or incomplete, give the job another name and another sink: it evaluates all input again; bad_input: skip keeps the results as they are.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        "sed -i s/10/11/ inbox/1.csv",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      shows: [
        "E361 inbox/1.csv: has changed since its rows were evaluated: 154 bytes then, 154 now",
        "  if the former content was right, put it back, and write new rows to a new file; if it was wrong or incomplete, give the job another name and another sink: it evaluates all input again; bad_input: skip keeps the results as they are",
      ],
    },
  },
  {
    code: "E362",
    class: "data",
    title: "An input file that is late",
    happened: "The first rows of a new file are not later than all evaluated rows.",
    toDo: "Rows come in the order of time: remove the file, or start a new job; bad_input: skip passes it over.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        "cp inbox/1.csv inbox/2.csv",
        "sed -i s/10/11/ inbox/2.csv",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      shows: [
        "E362 inbox/2.csv: its first rows are of 2024-01-02, rows up to 2024-01-03 have been evaluated",
        "  rows come in the order of time: remove the file, or start a new job; bad_input: skip passes such files over",
      ],
    },
  },
  {
    code: "E363",
    class: "data",
    title: "An input that is needed again and is missing",
    happened:
      "The state of a job is recomputed from its files, because of new symbols or a lost checkpoint, and a file is missing or has changed.",
    toDo: "Put it back as it was, or start a new job.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        "rm inbox/1.csv journal/daily/checkpoint*",
        "cp later.csv inbox/2.csv",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      files: {
        "later.csv": "date,symbol,open,high,low,close,volume\n2024-01-05,A,1,1,1,1,1\n",
      },
      shows: [
        "E363 inbox/1.csv: is needed to compute the state of the job again (ENOENT)",
        "  put it back as it was, or start a new job",
      ],
    },
  },
  {
    code: "E364",
    class: "data",
    title: "An input with times of another type",
    happened: "The times of a new file are of another type than those of the files before.",
    toDo: "Write them alike in all files.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        "cp later.csv inbox/2.csv",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      files: {
        "later.csv": "date,symbol,open,high,low,close,volume\n2024-01-05 09:30:00,A,1,1,1,1,1\n",
      },
      shows: [
        "E364 inbox/2.csv: its times are a timestamp without time zone, those before are a date (YYYY-MM-DD)",
        "  write them alike",
      ],
    },
  },
  {
    code: "E365",
    class: "data",
    title: "An input that changes while it is read",
    happened: "Another program still writes a file of a job.",
    toDo: "Write it under a name that ends in .tmp and rename it when it is complete.",
    example: {
      situation: "a program that appends to inbox/2.csv while factorloom run reads it",
      notRun: "it takes a write at the moment of the reading; test/jobs has it",
    },
  },
  {
    code: "E366",
    class: "data",
    title: "An input without a column",
    happened: "A new file lacks a column that the formulas read.",
    toDo: "Write all files with the same columns.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        "cp later.csv inbox/2.csv",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      files: {
        "later.csv": "date,symbol,open\n2024-01-05,A,1\n",
      },
      shows: [
        "E366 inbox/2.csv: has no column close, which the formulas read",
        "  write all files with the same columns",
      ],
    },
  },
  {
    code: "E367",
    class: "data",
    title: "A sink that is not what the journal says",
    happened: "Results in the sink are missing, changed, or unknown to the journal.",
    toDo: "Restore journal and sink together from one backup, or start the job under another name with a sink of its own.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        "rm out/*",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      files: {
        "later.csv": "date,symbol,open,high,low,close,volume\n2024-01-05,A,1,1,1,1,1\n",
      },
      shows: [
        "E367 job daily: its sink is not what its journal says: out/part-00000001.arrow is missing",
        "  restore journal and sink together from one backup, or start the job under another name with a sink of its own",
      ],
    },
  },
  {
    code: "E368",
    class: "data",
    title: "Rows of a query that are late, gone or changed",
    happened:
      "The query of a job has new rows of times that were taken already, or no longer has rows that were taken, or has other values of columns that formulas read.",
    toDo: "Rows come in the order of time, and stay: put them back, or give the job another name and another sink, so that it evaluates all input again; bad_input: skip keeps the results as they are.",
    example: {
      situation: "a row of yesterday that is inserted into the table after its job has run",
      notRun: "it takes a DuckDB table that changes between two runs; test/jobs/runs.long.test.ts has it",
    },
  },
  {
    code: "E369",
    class: "data",
    title: "An input that is no regular file",
    happened:
      "Something has the name of an input of a job and is a pipe, a socket, a device or a link that leads nowhere.",
    toDo: "Remove it or rename it; bad_input: skip passes it over.",
    example: {
      commands: ["mkfifo inbox/2.csv", "factorloom run jobs.yaml --once", "factorloom status jobs.yaml"],
      shows: [
        "E369 inbox/2.csv: is a pipe, and has the name of an input file",
        "  remove it or rename it; bad_input: skip passes it over",
      ],
    },
  },
  {
    code: "E370",
    class: "data",
    title: "A source that has never given anything",
    happened:
      "No file of a job's folder or pattern, or no row of its query, has been found in any of its runs: it may be mistyped, or the first one is yet to come.",
    toDo: "Check source. Of files, names count that end in .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow, .feather or .ipc, and do not start with a dot.",
    example: {
      commands: [
        "mv inbox/1.csv inbox/1.csvv",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      shows: [
        "E370 inbox: no input has ever been found (inbox has 1 other name, such as 1.csvv)",
        "  check source; of files, names count that end in .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow, .feather or .ipc, and do not start with a dot",
      ],
    },
  },
];
