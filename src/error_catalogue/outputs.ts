import type { ErrorEntry } from "./entry.ts";

/** Times and outputs, sessions, benchmarks. */
export const OUTPUTS: readonly ErrorEntry[] = [
  {
    code: "E541",
    class: "usage",
    title: "A time of another kind than the data's",
    happened:
      "from, to or another time that was given is no time, or of another kind than the times of the data.",
    toDo: "Write it like the times in the data.",
    example: {
      program: ['await engine.evaluate(program, bars, { from: "yesterday" })'],
      shows: ['E541 "yesterday" is not a date (YYYY-MM-DD)', "  write it like the times in the data"],
    },
  },
  {
    code: "E542",
    class: "usage",
    title: "An output of an unknown kind",
    happened: "The extension of an output is none of those that can be written.",
    toDo: "Use .arrow, .feather, .parquet, .csv or .csv.gz; on a cluster also a folder.",
    example: {
      program: ['await writeTable(await engine.evaluate(program, bars), "out.xlsx")'],
      shows: [
        "E542 out.xlsx: this kind of output is not known",
        "  use .arrow, .feather, .parquet, .csv or .csv.gz; on a cluster also a folder, its name with a slash at the end",
      ],
    },
  },
  {
    code: "E543",
    class: "usage",
    title: "An output in a missing folder",
    happened: "The folder of an output does not exist.",
    toDo: "Create the folder first.",
    example: {
      program: ['await writeTable(await engine.evaluate(program, bars), "none/out.csv")'],
      shows: ["E543 none/out.csv: there is no folder none", "  create the folder first"],
    },
  },
  {
    code: "E544",
    class: "usage",
    title: "An output that may not be written there",
    happened:
      "The path of an output is a folder, lies in something that is no folder, or in one without permission to write.",
    toDo: "Choose another place for the output.",
    example: {
      program: ['await writeTable(await engine.evaluate(program, bars), "bars.csv/out.csv")'],
      shows: [
        "E544 bars.csv/out.csv: cannot be written (bars.csv is not a folder)",
        "  choose another place for the output",
      ],
    },
  },
  {
    code: "E545",
    class: "usage",
    title: "A Node that is too old",
    happened: "factorloom runs on Node 24.15, 25.7 or newer.",
    toDo: "Run npm install node@26 in the folder where you work: npx factorloom and npx node use that one. A checkout has its own after npm run ready.",
    example: {
      situation: "factorloom --version with Node 22",
      notRun: "it takes another Node; test/cli/node_version.test.ts has one that says so",
    },
  },
  {
    code: "E548",
    class: "usage",
    title: "A source that is read twice at once",
    happened: "A source of bars is read from the start while an earlier reading of it is not at its end.",
    toDo: "Read a source once at a time, or open the file again.",
    example: {
      program: [
        'const source = await openPanelSource("bars.csv");',
        "const read = async () => {",
        '  const wanted = { fields: ["close"], groups: [], blockRows: 1 };',
        "  for await (const block of source.blocks(wanted)) block.rowCount;",
        "};",
        "await Promise.all([read(), read()])",
      ],
      shows: [
        "E548 bars.csv: another reading of the same source has begun",
        "  read a source once at a time, or open the file again for the other reading",
      ],
    },
  },
  {
    code: "E549",
    class: "usage",
    title: "An invalid definition of an operator",
    happened: "defineOperator is given a definition that lacks something or contradicts itself.",
    toDo: "Correct it; docs/user_operators.md says what it needs.",
    example: {
      program: ['defineOperator({ ...definition, name: "Plus One" })'],
      shows: [
        "E549 operator Plus One: a name is lower-case letters, digits and _",
        "  correct its definition; docs/user_operators.md says what it needs",
      ],
    },
  },
  {
    code: "E551",
    class: "usage",
    title: "A session that cannot be revised",
    happened: "revise is called on a session that was opened without revisable.",
    toDo: "Open it with revisable: true.",
    example: {
      program: [
        'const session = await engine.open(program, { symbols: ["A"] });',
        "await session.push({ time: 1, fields: { close: [10] } });",
        "await session.revise({ time: 1, fields: { close: [11] } })",
      ],
      shows: ["E551 the session is not revisable", "  open it with revisable: true"],
    },
  },
  {
    code: "E552",
    class: "usage",
    title: "A session without symbols",
    happened: "open is given neither symbols nor a warm-up nor a checkpoint.",
    toDo: "Give one of them.",
    example: {
      program: ["await engine.open(program)"],
      shows: ["E552 a session without symbols", "  give symbols, a warmup or a checkpoint"],
    },
  },
  {
    code: "E553",
    class: "usage",
    title: "No room for more symbols",
    happened: "addSymbols adds more symbols than the session has spare lanes.",
    toDo: "Open it with more spareSymbols.",
    example: {
      program: [
        'const session = await engine.open(program, { symbols: ["A"], spareSymbols: 1 });',
        'await session.addSymbols(["B", "C"])',
      ],
      shows: ["E553 2 symbols to add, the session has room for 1", "  open it with more spareSymbols"],
    },
  },
  {
    code: "E554",
    class: "usage",
    title: "An invalid option of a session",
    happened: "An option of open, push or update has a value that makes no sense.",
    toDo: "Give what the message names.",
    example: {
      program: ['await engine.open(program, { symbols: ["A"], retainRows: -1 })'],
      shows: ["E554 retainRows is -1", "  give a whole number from 0"],
    },
  },
  {
    code: "E555",
    class: "usage",
    title: "A param without a value",
    happened: "A param has no default, and the call gives it no value.",
    toDo: "Give it one: params, or --param name=...",
    example: {
      program: ['await engine.evaluate(compile("param lambda\\na = close * lambda"), bars)'],
      shows: ["E555 param lambda has no value", "  give it one: --param lambda=..."],
    },
  },
  {
    code: "E556",
    class: "usage",
    title: "A formula file that is too large",
    happened: "A formula file has more than 16 MiB.",
    toDo: "Split it into several files.",
    example: {
      commands: ["head -c 16777217 /dev/zero > large.factors", "factorloom check large.factors"],
      shows: [
        "E556 large.factors has 16777217 bytes, a formula file has at most 16777216",
        "  split it into several files",
      ],
    },
  },
  {
    code: "E557",
    class: "usage",
    title: "An operator whose module was changed",
    happened:
      "The module of an operator, or what it imports, was changed after the process imported it, and a thread would run other code.",
    toDo: "Start the process again, so that all of it runs the same code.",
    example: {
      situation: "a module of operators that is saved while an engine restarts a thread",
      notRun: "it takes a change at the moment of the import; test/engine has it",
    },
  },
  {
    code: "E558",
    class: "usage",
    title: "An operator that fails on numbers",
    happened: "An operator of the caller's threw while the compiler computed it on constants.",
    toDo: "Return NaN for values without a result.",
    example: {
      program: [
        'const fails = defineOperator({ ...definition, name: "fails", reference: (x) => { if (x > 1) throw new Error("too large"); return x; } });',
        'compile("a = close + fails(2)", { operators: [fails] })',
      ],
      shows: ["E558 operator fails fails on 2: Error: too large", "  return NaN for values without a result"],
    },
  },
  {
    code: "E559",
    class: "usage",
    title: "Two outputs in one file",
    happened: "Two of --out, --trace and --report name one file.",
    toDo: "Give each output a name of its own.",
    example: {
      commands: ["factorloom eval a.factors --data bars.csv --out out.csv --trace out.csv"],
      shows: ["E559 --trace out.csv would overwrite the result", "  give it a name of its own"],
    },
  },
  {
    code: "E561",
    class: "usage",
    title: "Nothing to verify",
    happened: "The params leave out all factors that verify is asked for.",
    toDo: "Give other params, or select other factors.",
    example: {
      commands: ["factorloom verify made.factors --data bars.csv"],
      files: {
        "made.factors": "param p = 1\nwhen p == 2 {\n  a = close\n}\n",
      },
      shows: ["E561 no factor is wanted with these params", "  give others with --param"],
    },
  },
  {
    code: "E562",
    class: "usage",
    title: "An unknown set of formulas",
    happened: "bench budget is asked for a set that does not exist, or for more formulas than it has.",
    toDo: "Give one of the names in the message.",
    example: {
      commands: ["factorloom bench budget --formulas alpha11"],
      shows: ["E562 no formula set alpha11", "  did you mean alpha101?"],
    },
  },
  {
    code: "E563",
    class: "usage",
    title: "An unknown code",
    happened:
      "help, --deny or --allow names a code that the catalogue does not have, or that is no finding of check --strict.",
    toDo: "Correct it; docs/errors.md lists all codes.",
    example: {
      commands: ["factorloom check a.factors --strict --allow units"],
      shows: ["E563 no finding units", "  docs/errors.md lists all codes"],
    },
  },
  {
    code: "E564",
    class: "usage",
    title: "A writer of results out of turn",
    happened: "A writer of results is committed without a batch, or used after commit, abort or a failure.",
    toDo: "Open a writer for each file, write all batches of the stream, then commit.",
    example: {
      program: ['const writer = await openResultWriter("a.csv");', "await writer.commit();"],
      shows: [
        "E564 a.csv has no columns: no batch was written",
        "  open a writer for each file, write all batches of the stream, then commit",
      ],
    },
  },
  {
    code: "E565",
    class: "usage",
    title: "Things that diff cannot compare",
    happened:
      "diff got a result and a formula file, formula files without bars, or results with an option for formula files.",
    toDo: "Give two results, or two formula files and the bars with --data.",
    example: {
      commands: ["factorloom diff a.factors a.factors --dialect-b alpha101"],
      shows: [
        "E565 formula files are compared over bars",
        "  give two results, or two formula files and --data",
      ],
    },
  },
  {
    code: "E566",
    class: "usage",
    title: "A tolerance that is none",
    happened: "A comparison got a tolerance that is negative or no number.",
    toDo: "Give a number that is not negative; 0 compares bits.",
    example: {
      program: ["await diffResults(bars, bars, { tolerance: -1 });"],
      shows: ["E566 a tolerance of -1", "  give a number that is not negative, e.g. 1e-9"],
    },
  },
  {
    code: "E567",
    class: "usage",
    title: "No time to explain, or two",
    happened: "why is asked for a cell and for a range of rows, or for neither.",
    toDo: "Give --at for one cell, --from and --to (or one of them) for a line for each row.",
    example: {
      commands: ["factorloom why a.factors --data bars.csv --factor a --symbol A"],
      shows: ["E567 a cell has one time, a series a range of them", "  give --at, or --from and --to"],
    },
  },
  {
    code: "E568",
    class: "usage",
    title: "Rows that a session does not keep",
    happened:
      "session.why is asked for a cell that depends on rows which the session has not kept, or ran with other params.",
    toDo: "Open it with a larger retainRows, or call engine.why with the history.",
    example: {
      program: [
        'const session = await engine.open(program, { symbols: ["A"] });',
        'await session.why("a", "A")',
      ],
      shows: [
        "E568 a depends on 2 rows, the session has 0 of them with the params of the newest",
        "  open it with a larger retainRows, or explain the cell with engine.why over the history",
      ],
    },
  },
  {
    code: "E569",
    class: "usage",
    title: "A window state that is not known by its name",
    happened:
      "An operator's code carries a window state that no operator lists, or two states have the same name: threads could not rebuild it.",
    toDo: "List the state in states of the operator's definition, under a name that no other state has.",
    example: {
      program: [
        'const state = { kind: "count", keyOf: () => "", reserve: () => ({}), emit: () => null, rebuild() {} };',
        "const rising = defineOperator({",
        '  ...definition, name: "rising", axis: "rolling", windowRows: () => 2, reference: ([x]) => x[0],',
        '  examples: [{ formula: "rising(x)", inputs: { x: [1, 2] }, output: [null, 1] }],',
        "  states: [state], lower: (on) => on.state(state, null),",
        "});",
        'await engine.evaluate(compile("a = rising(close)", { operators: [rising] }), bars)',
      ],
      shows: [
        "E569 two window states are called count",
        "  list it in states of the operator's definition, under a name of its own",
      ],
    },
  },
  {
    code: "E571",
    class: "usage",
    title: "Queues of a wrong length",
    happened: "queueMs is no number from 0 to 1000.",
    toDo: "Leave it out: each plan then has the queues that suit it. 0 stands for one or two parts.",
    example: {
      program: ["await Engine.start({ queueMs: -1 })"],
      shows: [
        "E571 queueMs must be a number from 0 to 1000, got -1",
        "  leave it out, so that each plan has the queues that suit it",
      ],
    },
  },
  {
    code: "E572",
    class: "usage",
    title: "A wrong limit for parts that hang",
    happened: "The option hang.limitMs of Engine.start is no positive number.",
    toDo: "Give a positive number of milliseconds, or hang: false.",
    example: {
      program: ["await Engine.start({ hang: { limitMs: 0 } })"],
      shows: ["E572 hang.limitMs is 0", "  give a positive number of ms, or hang: false"],
    },
  },
  {
    code: "E573",
    class: "usage",
    title: "A wrong share of the memory limit",
    happened:
      "A value of memoryThresholds, or of FACTORLOOM_MEMORY_TARGET, _SPILL, _PAUSE or _REFUSE, is no number from 0.",
    toDo: "Give a share of the limit, e.g. 0.8, or 0 to switch it off.",
    example: {
      program: ["await Engine.start({ memoryThresholds: { pause: -1 } })"],
      shows: [
        "E573 memoryThresholds.pause is -1",
        "  give a share of the memory limit, e.g. 0.8, or 0 for none",
      ],
    },
  },
];
