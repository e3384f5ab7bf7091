import type { ErrorEntry } from "./entry.ts";

/** Memory, threads, disks, databases. */
export const RESOURCES: readonly ErrorEntry[] = [
  {
    code: "E401",
    class: "resource",
    title: "Memory that does not suffice",
    happened:
      "An evaluation needs more memory than the limit or the system has left, or a factor alone more than one memory holds (4 GiB); where memoryThresholds.refuse is given, also a call or a row while the process takes too much. The text says why waiting would not help.",
    toDo: "Raise the memory limit, or evaluate fewer symbols, rows or factors at once; engine.stream keeps no whole table. With memoryThresholds.refuse, let go of other memory of the process.",
    example: {
      program: [
        'await using small = await Engine.start({ threads: 1, memoryLimit: "1 KiB" });',
        "await small.evaluate(program, bars)",
      ],
      shows: [
        "E401 the evaluation needs 32.5 KiB (columns and state 32.3 KiB, results 32 bytes, table 32 bytes, panel 180 bytes), the limit is 1.0 KiB",
        "  raise the memory limit, or take the result block by block: engine.stream, or --out on the command line",
      ],
    },
  },
  {
    code: "E402",
    class: "resource",
    title: "An operator that ends its thread",
    happened:
      "A thread ended twice while it ran or loaded the same operator: by process.exit, or because its heap was full.",
    toDo: "Look for process.exit and for lists without a bound in the operator and its module; raise the memory limit.",
    example: {
      program: [
        'const ends = defineOperator({ ...definition, name: "ends", reference: (x) => (x > 11 ? process.exit(1) : x) });',
        'await engine.evaluate(compile("a = ends(close)", { operators: [ends] }), bars)',
      ],
      shows: [
        "E402 the operator ends ended its thread twice in a row (node 1)",
        "  if it is your operator, look for process.exit or unbounded memory in its reference",
      ],
    },
  },
  {
    code: "E403",
    class: "resource",
    title: "Threads that do not start",
    happened: "The system refuses a thread, or the threads of an engine are lost.",
    toDo: "Close this engine and start another one, with fewer threads if memory is short.",
    example: {
      situation: "Engine.start({ threads: 200 }) in a container that may have 100 threads",
      notRun: "it takes a limit of the system; test/execution has it with one that is made up",
    },
  },
  {
    code: "E404",
    class: "resource",
    title: "A closed engine",
    happened: "An engine is used after it was closed, or was closed while a call was under way.",
    toDo: "Await what is under way before closing, or start another engine.",
    example: {
      program: [
        "const closed = await Engine.start({ threads: 1 });",
        "await closed.close();",
        "await closed.evaluate(program, bars)",
      ],
      shows: [
        "E404 the engine was closed",
        "  await what is under way before closing, or start another engine",
      ],
    },
  },
  {
    code: "E405",
    class: "resource",
    title: "Costs that cannot be stored",
    happened: "The measured costs of operators cannot be written to the file or the cache folder.",
    toDo: "Give a file that can be written with --out.",
    example: {
      commands: ["factorloom bench calibrate --out bars.csv/costs.json --lanes 1"],
      shows: [
        "E405 the costs cannot be stored in bars.csv/costs.json: EEXIST: file already exists, mkdir 'bars.csv'",
        "  give a file that can be written with --out",
      ],
    },
  },
  {
    code: "E406",
    class: "resource",
    title: "More rows than a plan can count",
    happened: "A session has run 2,147,418,112 rows, or a panel has more.",
    toDo: "Open the session again, with the newest rows as its warm-up, or evaluate a part of the rows.",
    example: {
      situation: "a session that has taken a row every ms for 25 days",
      notRun: "2^31 rows take days; test/execution/run_numbers.test.ts sets the count",
    },
  },
  {
    code: "E410",
    class: "resource",
    title: "A plan that was closed",
    happened: "A plan is run after it was closed, mostly because its call was aborted.",
    toDo: "Await its runs before closing it, or open it again.",
    example: {
      situation: "a stream that is closed while its next batch is computed",
      notRun: "plans are inside of the engine; test/execution/runs.test.ts closes one",
    },
  },
  {
    code: "E411",
    class: "resource",
    title: "A closed session",
    happened: "A session is used after it was closed, or was closed while a push was under way.",
    toDo: "Await what is under way before closing it.",
    example: {
      program: [
        'const session = await engine.open(program, { symbols: ["A"] });',
        "await session.close();",
        "await session.push({ time: 1, fields: { close: [10] } })",
      ],
      shows: ["E411 the session was closed", "  await what is under way before closing it"],
    },
  },
  {
    code: "E412",
    class: "resource",
    title: "A plan that was interrupted",
    happened: "A block failed or was aborted while later ones were running, which need its state.",
    toDo: "Open it again, or await each block before the next.",
    example: {
      situation: "a block that is aborted while the next one runs",
      notRun: "plans are inside of the engine; test/execution/overlap.test.ts has it",
    },
  },
  {
    code: "E413",
    class: "resource",
    title: "A bar behind one that was aborted",
    happened:
      "An earlier push was aborted or failed after its row had begun: it takes back all pushes behind it.",
    toDo: "Push the bars again, from the first one that did not come through; session.lastTime is the newest that did.",
    example: {
      situation: "three pushes that are not awaited, of which the first is aborted while it runs",
      notRun: "it depends on the moment; test/live/session/aborts.test.ts has it",
    },
  },
  {
    code: "E441",
    class: "resource",
    title: "A panel that is too large for the machine",
    happened: "The dense panel, times x symbols x columns, needs more memory than the machine has.",
    toDo: "Give fewer columns or symbols; round the times if nearly every row has a time of its own; eval and engine.stream read block by block.",
    example: {
      situation: "bars whose every row has a time of its own, for 100,000 symbols",
      notRun: "it takes a file of many rows; test/data has one with a limit that is made up",
    },
  },
  {
    code: "E442",
    class: "resource",
    title: "An output that cannot be written",
    happened: "Writing a file fails on the way: the disk is full, or permissions are missing.",
    toDo: "Check the free space and the permissions of its folder.",
    example: {
      commands: ["factorloom bench budget --out bars.csv"],
      shows: [
        "E442 bars.csv: cannot be written (EEXIST: file already exists, mkdir 'bars.csv')",
        "  check the free space and the permissions of its folder",
      ],
    },
  },
  {
    code: "E443",
    class: "resource",
    title: "An input that does not fit",
    happened:
      "Sorting the rows of an input needs more than the memory limit and the space for temporary files.",
    toDo: "Give a larger memory limit, or more space in TMPDIR; Parquet that is sorted by time needs neither.",
    example: {
      situation: "a CSV of 50 GB on a machine with 4 GB for temporary files",
      notRun: "it takes an input larger than memory and disk",
    },
  },
  {
    code: "E444",
    class: "resource",
    title: "Results that cannot wait on disk",
    happened:
      "Results of many calls wait on disk while memory is short, and the temporary folder cannot take them.",
    toDo: "Check the free space and the permissions of TMPDIR, or raise the memory limit.",
    example: {
      situation: "engine.evaluateMany with TMPDIR on a full disk",
      notRun: "it takes a full file system; test/engine/memory/evaluate_many.long.test.ts has it",
    },
  },
  {
    code: "E445",
    class: "resource",
    title: "Standard output that cannot be written",
    happened:
      "What a command prints cannot be written where it is redirected to, for another reason than a closed pipe.",
    toDo: "Free space on its disk.",
    example: {
      commands: ["factorloom ops > /dev/full"],
      shows: [
        "E445 stdout cannot be written (ENOSPC: no space left on device, write)",
        "  make room where it is kept",
      ],
    },
  },
  {
    code: "E446",
    class: "resource",
    title: "A database that another process has open",
    happened: "DuckDB lets one process write at a time.",
    toDo: "Try again when the other one is done.",
    example: {
      situation: "factorloom run while another program has the database of the sink open",
      notRun: "it takes a second process; test/jobs has it",
    },
  },
  {
    code: "E447",
    class: "resource",
    title: "A database that refuses the rows",
    happened: "DuckDB does not take the results: its table has other columns or types, or the disk is full.",
    toDo: "Check the free space, and that the table has the columns of the factors.",
    example: {
      situation: "a sink whose table has a constraint that the results break",
      notRun: "it takes a database that is made for it; test/data has it",
    },
  },
  {
    code: "E448",
    class: "resource",
    title: "A peer that fails",
    happened: "pandas, polars or DuckDB is installed, and does not compute the factors it is compared by.",
    toDo: "Read its message; npm run bench -- peers --peers polars,duckdb leaves it out.",
    example: {
      situation: "npm run bench -- peers --peers pandas with a pandas that cannot be imported",
      notRun: "it takes a broken installation of pandas",
    },
  },
  {
    code: "E449",
    class: "resource",
    title: "A measurement that ended without a result",
    happened: "The process that measures a cell of a budget ended without a result: usually out of memory.",
    toDo: "Give fewer --lanes or fewer --formulas.",
    example: {
      situation: "factorloom bench budget --lanes 100000 --formulas all on a machine of 4 GB",
      notRun: "it takes a machine that runs out of memory; test/bench/budget/budget.test.ts has it",
    },
  },
  {
    code: "E450",
    class: "resource",
    title: "A journal that is in use",
    happened: "Another process runs the jobs of this journal.",
    toDo: "End it first, or give this configuration a journal of its own.",
    example: {
      situation: "factorloom run jobs.yaml in two terminals",
      notRun: "it takes two processes; test/jobs/run_command.long.test.ts has it",
    },
  },
  {
    code: "E451",
    class: "resource",
    title: "A metrics port that cannot be used",
    happened: "The port of metrics.port is taken, or may not be used.",
    toDo: "Choose another port.",
    example: {
      situation: "metrics: { port: 9464 } while another process listens there",
      notRun: "it takes a port that is taken; test/jobs has it",
    },
  },
  {
    code: "E452",
    class: "resource",
    title: "A journal that cannot be written",
    happened:
      "The system refuses to read or write a file of the journal, or something else lies in its place.",
    toDo: "Move away what lies in its place; check free space and permissions.",
    example: {
      commands: ["touch journal", "factorloom run jobs.yaml --once"],
      shows: [
        "E452 journal: a file lies where a folder belongs (EEXIST: file already exists, mkdir 'journal')",
        "  move it away",
      ],
    },
  },
  {
    code: "E460",
    class: "resource",
    title: "A journal that cannot be locked",
    happened: "The file system does not lock files, or a file of the lock's name is no lock.",
    toDo: "Use a file system that locks files; a file of that name that is no lock may be removed while no process runs these jobs.",
    example: {
      commands: ["mkdir -p journal/.lock.sqlite", "factorloom run jobs.yaml --once"],
      shows: [
        "E460 journal/.lock.sqlite: the journal cannot be locked (unable to open database file)",
        "  check free space and permissions; its folder needs a file system that locks files; a file of that name that is no lock may be removed while no process runs these jobs",
      ],
    },
  },
];
