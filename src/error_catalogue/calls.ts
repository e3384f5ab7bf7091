import type { ErrorEntry } from "./entry.ts";

/** Command lines, options, operators and arguments of calls. */
export const CALLS: readonly ErrorEntry[] = [
  {
    code: "E500",
    class: "usage",
    title: "A command line that cannot be read",
    happened:
      "A command, option, value or argument of the command line is unknown, missing, given twice or of a wrong form, or two of them exclude each other.",
    toDo: "Correct it; factorloom COMMAND --help lists what a command takes.",
    example: {
      commands: ["factorloom check a.factors --strickt"],
      shows: [
        "E500 unknown option '--strickt'",
        "(Did you mean --strict?)",
        "(factorloom --help lists the commands, factorloom COMMAND --help its options)",
      ],
    },
  },
  {
    code: "E501",
    class: "usage",
    title: "An unknown dialect in a call",
    happened: "The option dialect of compile, or --dialect, names none of the dialects.",
    toDo: "Give one of native, alpha101, qlib, gtja191.",
    example: {
      program: ['compile("a = close", { dialect: "alpha11" })'],
      shows: ["E501 unknown dialect alpha11", "  did you mean alpha101?"],
    },
  },
  {
    code: "E502",
    class: "usage",
    title: "An unknown compiler pass",
    happened: "disabledPasses or --without names no pass.",
    toDo: "Give one of the names in the message.",
    example: {
      program: ['compile("a = close", { disabledPasses: ["fold_constant"] })'],
      shows: ["E502 unknown pass fold_constant", "  did you mean fold_constants?"],
    },
  },
  {
    code: "E503",
    class: "usage",
    title: "An unknown param",
    happened: "A call gives a value to a param that the file does not declare.",
    toDo: "Correct the name, or declare it: param name = value.",
    example: {
      program: [
        'await engine.evaluate(compile("param lambda = 1\\na = close * lambda"), bars, { params: { lamda: 2 } })',
      ],
      shows: ["E503 unknown param lamda", "  did you mean lambda?"],
    },
  },
  {
    code: "E504",
    class: "usage",
    title: "A param of a wrong type",
    happened:
      "The value of a param has another type than its default, or than its use: a text in a formula, for example.",
    toDo: "Give a value like the default.",
    example: {
      program: [
        'await engine.evaluate(compile("param lambda = 1\\na = close * lambda"), bars, { params: { lambda: "2" } })',
      ],
      shows: ['E504 param lambda is a number, got a text: "2"', "  give it a value like its default 1"],
    },
  },
  {
    code: "E505",
    class: "usage",
    title: "An invalid number of threads",
    happened: "threads is no whole number from 1 to 256.",
    toDo: "Give one; by default there is a thread per core, less one from 4 on.",
    example: {
      program: ["await Engine.start({ threads: 0 })"],
      shows: ["E505 threads must be a whole number from 1 to 256, got 0", "  try threads: 2"],
    },
  },
  {
    code: "E506",
    class: "usage",
    title: "An unknown factor in a selection",
    happened: "select names no factor of the file.",
    toDo: "Correct the name.",
    example: {
      program: ['await engine.evaluate(program, bars, { select: ["b"] })'],
      shows: ["E506 no factor b to select", "  factors: a"],
    },
  },
  {
    code: "E507",
    class: "usage",
    title: "An invalid size of memory",
    happened: "A memory limit is no number with a unit, or not positive.",
    toDo: "Write e.g. 4GiB or 500MB.",
    example: {
      program: ['await Engine.start({ memoryLimit: "4 gigs" })'],
      shows: ['E507 "4 gigs" is not a size of memory', "  write e.g. 4GiB or 500MB"],
    },
  },
  {
    code: "E508",
    class: "usage",
    title: "No such formula or job file",
    happened:
      "A path that names a formula file or a configuration leads to nothing, or to something that is no file.",
    toDo: "Correct the path.",
    example: {
      commands: ["factorloom check none.factors"],
      shows: ["E508 none.factors: no such file", "  give the path of a formula file"],
    },
  },
  {
    code: "E509",
    class: "usage",
    title: "An unknown operator in ops",
    happened: "factorloom ops is asked for an operator that does not exist.",
    toDo: "Correct the name; factorloom ops lists all.",
    example: {
      commands: ["factorloom ops rnak"],
      shows: ["E509 no operator rnak", "  did you mean rank?"],
    },
  },
  {
    code: "E510",
    class: "usage",
    title: "An operator that threads cannot run",
    happened:
      "An operator of the caller's uses something outside its functions, has data that cannot be sent, or a module that cannot be imported or does not export it.",
    toDo: "Give it functions that use nothing from outside, or add module: import.meta.url and export it there.",
    example: {
      program: [
        "const plusOne = defineOperator({ ...definition, reference: (x) => x + outside });",
        'compile("a = plus_one(close)", { operators: [plusOne] })',
      ],
      shows: [
        "E510 operator plus_one uses something outside its functions: outside is not defined",
        "  add module: import.meta.url to its definition and export it from that module",
      ],
    },
  },
  {
    code: "E511",
    class: "usage",
    title: "An operator whose name is taken",
    happened: "The name, an alias or the symbol of an operator of the caller's is that of another operator.",
    toDo: "Give it another name.",
    example: {
      program: ['compile("a = close", { operators: [defineOperator({ ...definition, name: "rank" })] })'],
      shows: [
        "E511 operators rank and rank both claim rank",
        "  give the operator, alias or symbol another name",
      ],
    },
  },
  {
    code: "E512",
    class: "usage",
    title: "A rewrite that cannot be used",
    happened:
      "The formula of a rewrite of the caller's cannot be read, uses names that are no parameters or operators, or uses itself.",
    toDo: "Write one expression of its parameters and built-in operators.",
    example: {
      program: [
        'const plusOne = defineOperator({ ...definition, axis: "rewrite", formula: "x + close" });',
        'compile("a = plus_one(close)", { operators: [plusOne] })',
      ],
      shows: [
        "E512 operator plus_one: its formula uses close, which is not one of its parameters",
        "  make close a parameter: a formula uses only the names of its parameters",
      ],
    },
  },
  {
    code: "E513",
    class: "usage",
    title: "An invalid fact of an operator",
    happened:
      "costNs, codeNs, windowRows or initialState of an operator of the caller's fails, or gives something that the plan cannot work with.",
    toDo: "Let it give what docs/user_operators.md says, for every number of rows.",
    example: {
      program: [
        "const plusOne = defineOperator({ ...definition, costNs: () => -1 });",
        'compile("a = plus_one(close)", { operators: [plusOne] })',
      ],
      shows: [
        "E513 operator plus_one: costNs gives -1 for a window of 1 rows",
        "  give an estimate in ns per cell: a finite number of 0 or more",
      ],
    },
  },
  {
    code: "E514",
    class: "usage",
    title: "An output that meets an input",
    happened:
      "An output would replace a file that is read, lie in a folder that is read, or be a folder that holds one.",
    toDo: "Give it a name of its own.",
    example: {
      commands: ["factorloom eval a.factors --data bars.csv --out ./bars.csv"],
      shows: ["E514 --out ./bars.csv would overwrite the input bars.csv", "  give it a name of its own"],
    },
  },
  {
    code: "E515",
    class: "usage",
    title: "An operator that throws",
    happened:
      "A function of an operator of the caller's threw while it ran, or could not be loaded by a thread. In a session it may have thrown in a row that nothing needed then: factors that go on from that row fail until an update.",
    toDo: "Its functions must work for every value; NaN stands for no result.",
    example: {
      program: [
        'const fails = defineOperator({ ...definition, name: "fails", reference: (x) => { if (x > 1) throw new Error("too large"); return x; } });',
        'await engine.evaluate(compile("a = fails(close)", { operators: [fails] }), bars)',
      ],
      shows: [
        "E515 the operator fails failed: Error: too large",
        "  look into its functions: they must work for every value and may return NaN for none",
      ],
    },
  },
  {
    code: "E516",
    class: "usage",
    title: "An invalid block size",
    happened: "blockRows is no whole number from 1 to 65,536.",
    toDo: "Leave it out, or give one.",
    example: {
      program: ["await engine.evaluate(program, bars, { blockRows: 0 })"],
      shows: ["E516 blocks of 0 rows", "  give a whole number from 1 to 65536"],
    },
  },
  {
    code: "E517",
    class: "usage",
    title: "An unknown kernel",
    happened: "The option kernel is neither compiled nor reference.",
    toDo: "Leave it out, or give one of the two.",
    example: {
      program: ['await engine.evaluate(program, bars, { kernel: "quick" })'],
      shows: ['E517 unknown kernel "quick"', "  kernels: compiled, reference"],
    },
  },
  {
    code: "E570",
    class: "usage",
    title: "A wrong priority",
    happened: "The priority of a call is no whole number, or too large.",
    toDo: "Give a whole number from -1000 to 1000: calls of higher priority go first.",
    example: {
      program: ["await engine.evaluate(program, bars, { priority: 0.5 })"],
      shows: ["E570 the priority is 0.5", "  give a whole number from -1000 to 1000"],
    },
  },
  {
    code: "E518",
    class: "usage",
    title: "An unknown workload",
    happened: "factorloom bench is asked for a workload that does not exist.",
    toDo: "Correct the name; factorloom bench lists all.",
    example: {
      commands: ["factorloom bench rnak"],
      shows: ["E518 no workload rnak", "  did you mean rank?"],
    },
  },
  {
    code: "E519",
    class: "usage",
    title: "An option that a workload does not take",
    happened:
      "An option would change nothing for this workload, so that two different measurements would look alike.",
    toDo: "Leave it out.",
    example: {
      commands: ["factorloom bench rank --calls 5"],
      shows: ["E519 rank knows no --calls", "  it takes --lanes, --rows, --nulls, --block-rows"],
    },
  },
  {
    code: "E520",
    class: "usage",
    title: "An invalid cost model",
    happened:
      "The costs that were given are not an object of operators with points of windowRows and nsPerCell.",
    toDo: "Measure one with factorloom bench calibrate.",
    example: {
      program: ["await Engine.start({ costs: {} })"],
      shows: [
        "E520 not a cost model: machine is not a text",
        "  measure one with `factorloom bench calibrate`",
      ],
    },
  },
  {
    code: "E521",
    class: "usage",
    title: "A law that cannot be read",
    happened: 'A law of an operator of the caller\'s is neither "commutative" nor an equation of operators.',
    toDo: "Write an equation such as abs(-x) = abs(x).",
    example: {
      program: [
        'const plusOne = defineOperator({ ...definition, laws: ["plus_one of x"] });',
        'compile("a = plus_one(close)", { operators: [plusOne] })',
      ],
      shows: [
        'E521 operator plus_one: law "plus_one of x": it is neither commutative nor an equation',
        '  write "commutative", or an equation such as "abs(-x) = abs(x)"',
      ],
    },
  },
  {
    code: "E522",
    class: "usage",
    title: "A panel that does not fit together",
    happened:
      "A panel that a program has built has columns of wrong lengths or types, times that do not ascend, symbols twice, or codes without labels.",
    toDo: "Correct what the message names; the type Panel says what fits.",
    example: {
      program: ['await engine.evaluate(program, { ...bars, symbols: ["A"] })'],
      shows: [
        "E522 the panel does not fit together: symbols has length 1, rowCount and laneCount make it 2",
        "  times ascend, columns are row-major [rows x lanes], codes of groups run from -1 to one less than the labels",
      ],
    },
  },
  {
    code: "E523",
    class: "usage",
    title: "A file of results that cannot be compared",
    happened: "bench compare is given a file that holds no results.",
    toDo: "Give files of factorloom bench budget, or what factorloom bench NAME --json printed.",
    example: {
      commands: ["factorloom bench compare bars.csv bars.csv"],
      shows: [
        "E523 bars.csv is no JSON",
        "  give files of `factorloom bench budget`, or what `factorloom bench NAME --json` printed",
      ],
    },
  },
  {
    code: "E524",
    class: "usage",
    title: "Results of different workloads",
    happened: "The two files of bench compare have no workload in common.",
    toDo: "Give results of the same workload, formulas, lanes, nulls and threads.",
    example: {
      situation: "factorloom bench compare of a result of rank and one of alpha101",
      notRun: "it takes two measurements; test/bench/budget/compare.test.ts has it",
    },
  },
  {
    code: "E525",
    class: "usage",
    title: "Params by time with many calls",
    happened: "evaluateMany is given paramsByTime, which belongs to a single evaluation.",
    toDo: "Give each call its params, or evaluate the table of params by itself.",
    example: {
      program: [
        'for await (const table of engine.evaluateMany(program, bars, [{ params: {} }], { paramsByTime: "bars.csv" })) table.numRows',
      ],
      shows: [
        "E525 many calls at once take no paramsByTime",
        "  give each call its params, or evaluate the table of params by itself",
      ],
    },
  },
  {
    code: "E527",
    class: "usage",
    title: "An unknown option of a call",
    happened:
      "An object of options, or a bar, has a name that the call does not know, or an option or a command of an earlier version is given.",
    toDo: "Correct the name, or use what the message names instead.",
    example: {
      program: ['await engine.evaluate(program, bars, { form: "2024-01-03" })'],
      shows: ["E527 unknown option form of evaluate", "  did you mean from?"],
    },
  },
  {
    code: "E528",
    class: "usage",
    title: "An argument of a wrong kind",
    happened:
      "A function of the library is given an argument or an option of another kind, most often a promise.",
    toDo: "Await it, or give what the message names.",
    example: {
      program: ['await engine.evaluate(program, "bars.csv")'],
      shows: ["E528 evaluate takes a panel, got a string", "  a panel is what await readPanel(path) gives"],
    },
  },
];
