import type { ArgumentKind } from "../text/argument_kinds.ts";
import type { Refusal } from "../text/option_kinds.ts";

/** What a user says: of the bars, of the formulas, of one evaluation of them, and of the engine that runs it. */
export type Spec = "source" | "program" | "call" | "engine";

/** Where users say it, and which of the specs each place takes: functions of the library, commands, the file of jobs. */
export const DOORS = {
  compile: ["program"],
  "a panel's reading": ["source"],
  panelFrom: ["source"],
  evaluate: ["call"],
  stream: ["call"],
  evaluateMany: ["call"],
  why: ["call"],
  whyRows: ["call"],
  nulls: ["call"],
  diff: ["call"],
  openSession: ["call"],
  "a cluster's evaluate": ["call"],
  "factorloom eval": ["source", "program", "call", "engine"],
  "factorloom cluster eval": ["source", "program", "call", "engine"],
  "factorloom verify": ["source", "program", "call", "engine"],
  "factorloom why": ["source", "program", "call", "engine"],
  "factorloom nulls": ["source", "program", "call", "engine"],
  "factorloom diff": ["source", "program", "call", "engine"],
  "factorloom explain": ["source", "program"],
  "factorloom check": ["source", "program"],
  "factorloom run": ["source", "program", "call", "engine"],
} as const satisfies Readonly<Record<string, readonly Spec[]>>;

export type Door = keyof typeof DOORS;
export type CommandDoor = Extract<Door, `factorloom ${string}`>;

/** How a text says a value, at a command line and in YAML. */
export type Written =
  | "text"
  | "path"
  /** Several names, with commas between them or as a list. */
  | "names"
  /** Several values: the flag may be repeated, YAML has a list. */
  | "list"
  /** Several values by name: the flag may be repeated, YAML has keys. */
  | "pairs"
  | "choice"
  | "count"
  | "size"
  /** Times, or `09:30-16:00@America/New_York`; YAML has a list or `{ sessions, timezone }`. */
  | "restarts"
  /** No value: the flag alone, YAML has true or false. */
  | "switch";

/** One option: what it may be, and how each door calls it. */
export interface OptionRow {
  readonly spec: Spec;
  readonly kind: ArgumentKind;
  /** How texts say it; null: they have other means, which `help` says. */
  readonly written: Written | null;
  /** With its value, e.g. `--select <names>`. */
  readonly flag: string | null;
  /** The key below a job of `factorloom run`, e.g. `formulas.dialect`. */
  readonly yaml: string | null;
  /** For `--help` and the docs. */
  readonly help: string;
  /** Why doors that take the spec do not take this option. */
  readonly refused?: Readonly<Partial<Record<Door, Refusal>>>;
}
