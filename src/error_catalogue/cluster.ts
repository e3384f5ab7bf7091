import type { ErrorEntry } from "./entry.ts";

/** Runs on a Dask cluster. */
export const CLUSTER: readonly ErrorEntry[] = [
  {
    code: "E601",
    class: "usage",
    title: "An address that is none",
    happened: "The address of a scheduler cannot be read.",
    toDo: "Give one like tcp://host:8786.",
    example: {
      situation: "factorloom eval ... --engine dask --scheduler here",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E602",
    class: "resource",
    title: "No Python with Dask",
    happened: "No Python that has Dask's distributed was found.",
    toDo: "Install it (apt-get install python3-distributed), or name a Python with --python or FACTORLOOM_PYTHON.",
    example: {
      commands: [
        "factorloom eval a.factors --data bars.csv --out out.csv --engine dask --scheduler tcp://127.0.0.1:1 --python none",
      ],
      shows: [
        "E602 no Python with Dask's distributed was found (tried none)",
        "  install it, e.g. apt-get install python3-distributed, or name another Python with --python or FACTORLOOM_PYTHON",
      ],
    },
  },
  {
    code: "E603",
    class: "resource",
    title: "A scheduler that does not answer",
    happened:
      "At the address nobody listens, or something answers that is no Dask scheduler or speaks TLS otherwise.",
    toDo: "Do what the message says of what was found there.",
    example: {
      situation: "factorloom eval ... --engine dask --scheduler tcp://127.0.0.1:8787, which is the dashboard",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E604",
    class: "resource",
    title: "No worker",
    happened: "The scheduler has no worker, or none that --workers and --resources allow.",
    toDo: "Start dask-worker on its hosts, or mend --workers and --resources.",
    example: {
      situation: "a run on a scheduler that nobody has joined",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E605",
    class: "resource",
    title: "A worker without Node",
    happened: "A worker finds no Node that can run executors.",
    toDo: "Install Node 24 or later there, or name it with --node or FACTORLOOM_NODE in the worker's environment.",
    example: {
      situation: "a worker whose PATH has no node",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E606",
    class: "resource",
    title: "Different versions on a cluster",
    happened:
      "A worker or an executor is of another version of factorloom or of its protocol than the client.",
    toDo: "Use one version, and end other runs on the cluster first.",
    example: {
      situation: "a client of a newer version while an older run is under way",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E607",
    class: "resource",
    title: "Executors that end",
    happened: "Two executors in a row ended while they ran the same task.",
    toDo: "Look at the worker's log; memory may be short there.",
    example: {
      situation: "an executor that the system kills for want of memory, twice",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E608",
    class: "resource",
    title: "A task that Dask gave up",
    happened: "Dask tried a task on several workers, or what it reads is gone.",
    toDo: "Look at the logs of the workers; memory may be short there.",
    example: {
      situation: "workers that are killed while they run the task",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E609",
    class: "resource",
    title: "A store that cannot be written",
    happened: "A tile, a part of the result or a folder of the run cannot be written.",
    toDo: "See that there is room and that it may be written, or name another folder (--store, --out).",
    example: {
      situation: "a store on a full disk",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E610",
    class: "resource",
    title: "A tile that is missing",
    happened:
      "A file that tasks hand over is gone or cut short, and was not there again when it was computed anew.",
    toDo: "Nothing else may delete files of the store while a run is under way.",
    example: {
      situation: "a cleaner of temporary files that empties the store",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E611",
    class: "resource",
    title: "A scheduler that is gone",
    happened: "The connection to the scheduler ended and did not come back.",
    toDo: "Start it and run again.",
    example: {
      situation: "a scheduler that is stopped while a run is under way",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E612",
    class: "resource",
    title: "A bridge that ended",
    happened: "The Python process between the client and Dask ended, again after it was started anew.",
    toDo: "Run again.",
    example: {
      situation: "the client's Python that is killed three times",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E613",
    class: "resource",
    title: "An executor that does not answer",
    happened: "Two executors in a row gave no answer within the time for a task.",
    toDo: "Look at the load of the host, or raise --task-timeout.",
    example: {
      situation: "--task-timeout 1 on a host that is busy",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E614",
    class: "usage",
    title: "A folder that is not shared",
    happened: "A worker does not see the store or the output folder as the client does.",
    toDo: "Name a folder on storage that all hosts see under one path (--store, --out).",
    example: {
      situation: "--store /tmp/tiles with workers on another host",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E615",
    class: "data",
    title: "Bars that the workers cannot read",
    happened: "A worker does not find the file of bars under the client's path.",
    toDo: "Put it on storage that all hosts see, or use --scatter.",
    example: {
      situation: "--data bars.parquet on a disk of the client alone",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E616",
    class: "usage",
    title: "Something that a cluster does not do",
    happened: "An option belongs to evaluations on this machine.",
    toDo: "Leave it out, or use --engine local.",
    example: {
      commands: [
        "factorloom eval a.factors --data bars.csv --out out.csv --engine dask --scheduler tcp://127.0.0.1:1 --threads 2",
      ],
      shows: ["E616 --threads is not possible with --engine dask", "  leave it out, or use --engine local"],
    },
  },
  {
    code: "E617",
    class: "usage",
    title: "An option of clusters without one",
    happened: "An option belongs to --engine dask, which is not given.",
    toDo: "Give --engine dask as well, or leave it out.",
    example: {
      commands: ["factorloom eval a.factors --data bars.csv --out out.csv --scatter"],
      shows: ["E617 --scatter is for a cluster", "  give --engine dask as well, or leave it out"],
    },
  },
  {
    code: "E618",
    class: "resource",
    title: "A local cluster that does not start",
    happened: "A scheduler or worker of factorloom cluster local did not come up.",
    toDo: "See what it printed above.",
    example: {
      situation: "factorloom cluster local with a port that is taken",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E619",
    class: "resource",
    title: "A worker that cannot unpack the executors",
    happened: "The code of the executors did not reach the worker's folder.",
    toDo: "Make room in the worker's --local-directory.",
    example: {
      situation: "a worker whose folder is on a full disk",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E620",
    class: "usage",
    title: "No address of a scheduler",
    happened: "--engine dask is given without --scheduler, and DASK_SCHEDULER_ADDRESS is not set.",
    toDo: "Give --scheduler tcp://host:8786; factorloom cluster local starts one to try.",
    example: {
      commands: ["factorloom eval a.factors --data bars.csv --out out.csv --engine dask"],
      shows: [
        "E620 --engine dask without the address of a scheduler",
        "  give --scheduler tcp://host:8786 or DASK_SCHEDULER_ADDRESS; to try one: factorloom cluster local",
      ],
    },
  },
  {
    code: "E621",
    class: "usage",
    title: "Slabs that are not independent",
    happened:
      "--cut slabs is asked for, and the formulas remember all of history, so that rows cannot be cut apart.",
    toDo: "Leave --cut out, or use --cut stages.",
    example: {
      situation: "--cut slabs with ema in the formulas",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E622",
    class: "usage",
    title: "No such worker",
    happened: "--workers or --resources names workers that the scheduler does not have.",
    toDo: "Mend --workers or --resources.",
    example: {
      situation: "--workers host9 where there is none",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E623",
    class: "data",
    title: "A worker that sees other input",
    happened:
      "The file of bars, groups or series differs between a worker and the client, or changed during the run.",
    toDo: "Put it on storage that all hosts see, leave it as it is during a run, or use --scatter.",
    example: {
      situation: "bars that are replaced while the run is under way",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E624",
    class: "usage",
    title: "A worker that sees other operators",
    happened: "A module of operators differs between a worker and the client.",
    toDo: "Put the same files on all hosts under one path, and restart workers that had others.",
    example: {
      situation: "a module that was edited on one host",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E625",
    class: "resource",
    title: "An output folder that another run writes",
    happened: "Another client has claimed the folder.",
    toDo: "Wait until that run has ended, for half a minute if its host is gone, or name a new folder.",
    example: {
      situation: "two runs with one --out folder/",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E626",
    class: "resource",
    title: "An output that is not what was written",
    happened: "At the end a part of the output folder is missing or differs from what its worker wrote.",
    toDo: "Run again: files that are whole are used; take others away first.",
    example: {
      situation: "a part that is deleted during the run",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E627",
    class: "resource",
    title: "Executors' code that was changed",
    happened: "A file of the executors on a worker is not what the client sent.",
    toDo: "Start the worker again.",
    example: {
      situation: "a file in the worker's local directory that is edited",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E629",
    class: "usage",
    title: "An output folder that holds something else",
    happened: "The folder has files of other programs, or the result of another run.",
    toDo: "Name a new folder, or empty it.",
    example: {
      situation: "--out results/ where results has other files",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E630",
    class: "usage",
    title: "A store that is not there",
    happened: "The folder of --store does not exist.",
    toDo: "Mend --store, or have it made with --create-store.",
    example: {
      situation: "--store /shared/tlies",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E631",
    class: "resource",
    title: "Workers that do not take the executors",
    happened: "No worker took the code of the executors.",
    toDo: "See the logs of the workers; those of less than 240 MB have no room for it; with many workers raise --timeout.",
    example: {
      situation: "workers with --memory-limit 100MB",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E632",
    class: "usage",
    title: "Certificates that cannot be used",
    happened:
      "A file of --tls-ca, --tls-cert or --tls-key is missing or no certificate, or the address is not of TLS.",
    toDo: "Give PEM files, with an address like tls://host:8786.",
    example: {
      situation: "--tls-ca with a file that is no certificate",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
  {
    code: "E633",
    class: "resource",
    title: "A start that takes too long",
    happened: "The start of a run on a cluster takes longer than --timeout allows.",
    toDo: "Raise --timeout, or look at the load of this host.",
    example: {
      situation: "--timeout 1 on a busy host",
      notRun: "it takes a Dask cluster; test/cluster has it",
    },
  },
];
