/** Reads what a job says of its bars, its formulas and their evaluation: the keys of the table of options. */
import { resolve } from "node:path";
import { DIALECTS } from "../../../grammar/dialects.ts";
import type { CompileOptions } from "../../compile.ts";
import type { ReadPanelOptions } from "../../data/source/source_options.ts";
import type { EvaluateOptions } from "../../evaluation/options.ts";
import { RESTARTS, type Restarts } from "../../evaluation/options.ts";
import type { OptionRow } from "../../options/doors.ts";
import { optionsAt } from "../../options/option_table.ts";
import type { ChoiceKind, NumberKind } from "../../text/argument_kinds.ts";
import type { ConfigNode } from "./config_text.ts";

/** What a job says, as the library's options; operators are paths of modules. */
export interface JobSpecs {
  readonly source: ReadPanelOptions;
  readonly program: Omit<CompileOptions, "operators"> & { readonly operators?: readonly string[] };
  readonly call: EvaluateOptions;
}

type Keys = Readonly<Record<string, ConfigNode | undefined>>;

const ROWS = optionsAt("factorloom run").taken.flatMap(({ yaml, ...row }) => {
  const [section, key] = yaml === null ? [] : yaml.includes(".") ? yaml.split(".") : ["", yaml];
  return key === undefined ? [] : [{ ...row, section: section!, key }];
});

/** The keys of a part of a job; "" is the job itself. */
export function keysOf(section: string): string[] {
  return ROWS.filter((row) => row.section === section).map(({ key }) => key);
}

/** Reads the keys of all parts. A value that is wrong is reported and left out. */
export function readSpecs(sections: Readonly<Record<string, Keys>>, folder: string): JobSpecs {
  const specs: Record<string, Record<string, unknown>> = { source: {}, program: {}, call: {} };
  for (const { name, spec, section, key, ...row } of ROWS) {
    const node = sections[section]?.[key];
    const value = node && readValue(node, name, row, folder);
    if (value !== undefined) specs[spec]![name] = value;
  }
  return specs as unknown as JobSpecs;
}

function readValue(
  node: ConfigNode,
  name: string,
  { written, kind }: Pick<OptionRow, "written" | "kind">,
  folder: string,
): unknown {
  if (name === "dialect") return node.oneOf(Object.keys(DIALECTS));
  switch (written) {
    case "path": {
      const path = node.text();
      return path === undefined ? undefined : resolve(folder, path);
    }
    case "names":
      return texts(node);
    case "list":
      return name === "operators" ? texts(node).map((path) => resolve(folder, path)) : texts(node);
    case "pairs": {
      const pairs = node.entries().map(([key, value]) => {
        return [key, name === "params" ? (value.scalar() ?? 0) : (value.text() ?? "")] as const;
      });
      return Object.fromEntries(pairs);
    }
    case "choice":
      return node.oneOf((kind as ChoiceKind).choices);
    case "count":
      return node.integer((kind as NumberKind).min, (kind as NumberKind).max);
    case "switch":
      return node.boolean();
    case "restarts":
      return node.isMap ? sessionsOf(node) : texts(node);
    default:
      return node.text();
  }
}

/** A text, or a list of texts. */
export function texts(node: ConfigNode): string[] {
  const nodes = node.isList ? node.list() : [node];
  if (nodes.length === 0) node.wrong("an empty list", "name at least one");
  return nodes.map((item) => item.text()).filter((text) => text !== undefined);
}

function sessionsOf(node: ConfigNode): Restarts | undefined {
  const keys = node.fields(["sessions", "timezone"], ["sessions"]);
  const sessions = keys.sessions?.list().map((session) => session.list().map((time) => time.text() ?? ""));
  const timezone = keys.timezone?.text();
  if (sessions === undefined) return undefined;
  const restarts = { sessions, ...(timezone !== undefined && { timezone }) } as unknown as Restarts;
  try {
    RESTARTS.fits(restarts);
    return restarts;
  } catch {
    const remedy = 'write { sessions: [["09:30", "16:00"]], timezone: America/New_York }';
    return node.wrong("these are no sessions in the order of the day, or no time zone", remedy);
  }
}
