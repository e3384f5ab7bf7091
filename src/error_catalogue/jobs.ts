import type { ErrorEntry } from "./entry.ts";

/** Configurations of jobs. */
export const JOBS: readonly ErrorEntry[] = [
  {
    code: "E530",
    class: "usage",
    title: "A mistake in a configuration of jobs",
    happened: "A file of jobs is not YAML, or a key is missing, unknown or of a wrong value.",
    toDo: "Correct it at the marked place; docs/run.md has all keys.",
    example: {
      commands: ["factorloom run made.yaml --once"],
      files: {
        "made.yaml": "jobs:\n  - nam: daily\n",
      },
      shows: [
        "E530 made.yaml:1:1: journal is missing",
        "  | jobs:",
        "  | ^^^^^ add journal: ...",
        "E530 made.yaml:2:5: jobs[0]: unknown key nam",
        "  |   - nam: daily",
        "  |     ^^^ did you mean name?",
        "E530 made.yaml:2:5: jobs[0]: name is missing",
        "  |   - nam: daily",
        "  |     ^^^^^^^^^^ add name: ...",
        "E530 made.yaml:2:5: jobs[0]: formulas is missing",
        "  |   - nam: daily",
        "  |     ^^^^^^^^^^ add formulas: ...",
        "E530 made.yaml:2:5: jobs[0]: source is missing",
        "  |   - nam: daily",
        "  |     ^^^^^^^^^^ add source: ...",
        "E530 made.yaml:2:5: jobs[0]: sink is missing",
        "  |   - nam: daily",
        "  |     ^^^^^^^^^^ add sink: ...",
        "E530 made.yaml:2:5: jobs[0]: schedule is missing",
        "  |   - nam: daily",
        "  |     ^^^^^^^^^^ add schedule: ...",
      ],
    },
  },
  {
    code: "E531",
    class: "usage",
    title: "A job that changed after its journal began",
    happened:
      "Formulas, params, the sink or another setting that results depend on differs from that in the journal, or an upgrade of factorloom changed the code of operators.",
    toDo: "Give the changed job a new name and a new sink, undo the change, or install the version of before.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        'echo "a = ts_mean(close, 3)" > a.factors',
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      shows: [
        "E531 job daily: formulas changed since its journal began",
        "  give the changed job a new name and a new sink: it evaluates all input again; or undo the change",
      ],
    },
  },
  {
    code: "E532",
    class: "usage",
    title: "A sink that holds other results",
    happened: "A new job has a sink with results that its journal does not know.",
    toDo: "Give the job a new sink, or the journal that these results belong to.",
    example: {
      commands: [
        "factorloom run jobs.yaml --once",
        "rm -r journal",
        "factorloom run jobs.yaml --once",
        "factorloom status jobs.yaml",
      ],
      shows: [
        "E532 job daily: out holds results already, and its journal knows of none",
        "  give the job a new sink, or the journal that these results belong to",
      ],
    },
  },
  {
    code: "E533",
    class: "usage",
    title: "A sink by date for rows without dates",
    happened: "A Parquet sink lies in folders by date, and the times of the rows are integers.",
    toDo: "Use times with a date, or an arrow or duckdb sink.",
    example: {
      commands: ["factorloom run made.yaml --once", "factorloom status made.yaml"],
      files: {
        "made.yaml":
          'journal: journal\nlog: { level: silent }\njobs:\n  - name: daily\n    formulas: a.factors\n    source: { folder: inbox }\n    sink: { parquet: out }\n    schedule: { cron: "0 18 * * *" }\n',
        "inbox/1.csv": "time,symbol,close\n1,A,10\n2,A,11\n",
      },
      shows: [
        "E533 job daily: needs the date of each row, and its times are an integer of 64 bits",
        "  use times with a date, or an arrow or duckdb sink",
      ],
    },
  },
  {
    code: "E534",
    class: "usage",
    title: "A factor that two files define",
    happened: "Two formula files of a job define factors of one name, which become columns of one table.",
    toDo: "Rename one of them.",
    example: {
      commands: ["factorloom run made.yaml --once", "factorloom status made.yaml"],
      files: {
        "made.yaml":
          'journal: journal\nlog: { level: silent }\njobs:\n  - name: daily\n    formulas: [a.factors, b.factors]\n    source: { folder: inbox }\n    sink: { arrow: out }\n    schedule: { cron: "0 18 * * *" }\n',
        "b.factors": "a = close\n",
      },
      shows: ["E534 job daily: a.factors and b.factors both define the factor a", "  rename one of them"],
    },
  },
  {
    code: "E535",
    class: "usage",
    title: "A selected factor or param that no file has",
    happened: "select or params of a job names something that none of its formula files has.",
    toDo: "Correct select and params.",
    example: {
      commands: ["factorloom run made.yaml --once", "factorloom status made.yaml"],
      files: {
        "made.yaml":
          'journal: journal\nlog: { level: silent }\njobs:\n  - name: daily\n    formulas: a.factors\n    source: { folder: inbox }\n    sink: { arrow: out }\n    schedule: { cron: "0 18 * * *" }\n    select: [b]\n',
      },
      shows: ["E535 job daily: no formula file has the factor b", "  check select and params"],
    },
  },
  {
    code: "E537",
    class: "usage",
    title: "A journal of version 0.1.0",
    happened: "The journal has no digests of the results, which this version compares with the sink.",
    toDo: "Start the job under another name with a sink of its own: it evaluates all input again.",
    example: {
      situation: "a journal that version 0.1.0 has written",
      notRun: "it takes files of the older version; test/jobs/journal/journal.test.ts has one",
    },
  },
  {
    code: "E539",
    class: "usage",
    title: "Sessions for rows without times of day",
    happened:
      "cross_session: false restarts windows at each session of the calendar, and the times of the rows have no time of day.",
    toDo: "Use timestamps, or leave windows.cross_session out.",
    example: {
      commands: ["factorloom run made.yaml --once", "factorloom status made.yaml"],
      files: {
        "made.yaml":
          'journal: journal\nlog: { level: silent }\njobs:\n  - name: daily\n    formulas: a.factors\n    source: { folder: inbox }\n    sink: { arrow: out }\n    schedule: { cron: "0 18 * * *", calendar: { sessions: [["09:30", "16:00"]] } }\n    windows: { cross_session: false }\n',
      },
      shows: [
        "E539 job daily: cross_session: false needs times of day, and its times are a date (YYYY-MM-DD)",
        "  use timestamps, or leave windows.cross_session out",
      ],
    },
  },
];
