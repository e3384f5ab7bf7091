import { BARS } from "./bars.ts";
import { BUGS } from "./bugs.ts";
import { CALLS } from "./calls.ts";
import { CLUSTER } from "./cluster.ts";
import { COLUMNS } from "./columns.ts";
import type { ErrorEntry } from "./entry.ts";
import { FILES } from "./files.ts";
import { JOBS } from "./jobs.ts";
import { MEANING } from "./meaning.ts";
import { OUTPUTS } from "./outputs.ts";
import { RESOURCES } from "./resources.ts";
import { STATE } from "./state.ts";
import { SUSPICIONS } from "./suspicions.ts";
import { SYNTAX } from "./syntax.ts";

/** Every code that can be thrown or found, in ascending order. */
export const ERROR_CATALOGUE: readonly ErrorEntry[] = [
  ...SYNTAX,
  ...MEANING,
  ...FILES,
  ...COLUMNS,
  ...STATE,
  ...BARS,
  ...RESOURCES,
  ...CALLS,
  ...JOBS,
  ...OUTPUTS,
  ...CLUSTER,
  ...BUGS,
  ...SUSPICIONS,
].sort((a, b) => (a.code < b.code ? -1 : 1));

/** The entry of a code, in any letter case; undefined for an unknown code. */
export function entryOf(code: string): ErrorEntry | undefined {
  return ERROR_CATALOGUE.find((entry) => entry.code === code.toUpperCase());
}
