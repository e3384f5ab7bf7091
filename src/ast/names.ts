import { type Dialect, derivedFormula } from "../../grammar/dialects.ts";
import type { Span } from "../text/source.ts";
import { nearestName } from "../text/suggest.ts";
import type { Definitions } from "./definitions.ts";
import { type Expression, unknownNode } from "./nodes.ts";
import type { Report } from "./report.ts";

/** What the panel offers to formulas. */
export interface PanelNames {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
}

/** Finds columns of the panel: by the exact name, or by the only one that differs in letter case. */
function findColumn(name: string, columns: readonly string[]): string | undefined {
  if (columns.includes(name)) return name;
  const alike = columns.filter((column) => column.toLowerCase() === name.toLowerCase());
  return alike.length === 1 ? alike[0] : undefined;
}

/** The panel column of that name as an expression. */
export function resolveColumn(name: string, panel: PanelNames, span: Span): Expression | undefined {
  const field = findColumn(name, panel.fields);
  if (field !== undefined) return { kind: "field", name: field, type: "series", constant: null, span };
  const group = findColumn(name, panel.groups);
  return group === undefined
    ? undefined
    : { kind: "group", name: group, type: "group", constant: null, span };
}

/** Without the dialect's prefix of group columns: `IndClass.sector` is `sector` in alpha101. */
export function localName(name: string, dialect: Dialect): string {
  const dot = name.indexOf(".");
  const isGroup = dot > 0 && name.slice(0, dot).toLowerCase() === dialect.groupPrefix?.toLowerCase();
  return isGroup ? name.slice(dot + 1) : name;
}

/** Reports an unknown name (E205), with the nearest known one or the list of fields. */
export function reportUnknownName(
  name: string,
  span: Span,
  definitions: Definitions,
  panel: PanelNames,
  report: Report,
): Expression {
  const known = [
    ...definitions.byName.keys(),
    ...definitions.params.keys(),
    ...panel.fields,
    ...panel.groups,
  ];
  const suggestion = nearestName(name, derivedFormula("returns") ? [...known, "returns"] : known);
  const list = (columns: readonly string[]) => columns.slice(0, 12).join(", ") || "none";
  const remedy = suggestion
    ? `did you mean ${suggestion}?`
    : `fields: ${list(panel.fields)}; groups: ${list(panel.groups)}`;
  report.add("E205", span, `unknown name ${name}`, remedy);
  return unknownNode(span);
}
