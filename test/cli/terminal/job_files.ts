import { BARS } from "../run_cli.ts";

/** Formulas, bars and a configuration of a job for calls of every command. */
export const JOB_FILES = {
  "a.factors": "a = rank(close)\n",
  "bars.csv": BARS,
  "jobs.yaml": `journal: journal
jobs:
  - name: daily
    formulas: { files: [a.factors] }
    source: { files: "*.csv" }
    sink: { arrow: results }
    schedule: { cron: "0 0 1 1 *" }
`,
};
