import { FOREIGN_FUNCTIONS } from "../../grammar/foreign_names.ts";
import { type DialectName, signatureOf } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import { nearestName } from "../text/suggest.ts";

/** What a function works on, which a misspelt name still says. */
const FAMILY = /^(?:ts|cs|group|gp|cum)_?/i;

const FOREIGN = new Map(FOREIGN_FUNCTIONS.flatMap((row) => row.names.map((name) => [name, row] as const)));

/**
 * What to write for an unknown function: what another system means by the name, or another dialect, else the nearest known
 * name, among functions of one family only. `macros` are functions of the file.
 */
export function functionRemedy(
  name: string,
  dialect: DialectName,
  registry: Registry,
  macros: readonly string[] = [],
): string {
  return (
    foreignRemedy(name, dialect, registry) ??
    remedyOfDialects(name, dialect, registry) ??
    remedyByDistance(name, [...registry.names(dialect), ...macros]) ??
    "`factorloom ops` lists all functions"
  );
}

function foreignRemedy(name: string, dialect: DialectName, registry: Registry): string | undefined {
  const foreign = FOREIGN.get(name.toLowerCase());
  if (!foreign) return undefined;
  const { formula, note } = foreign;
  if (formula === null) return note;
  return `${note || "write"}${note ? ": " : " "}${spelledIn(formula, dialect, registry)}`;
}

/** A formula of dialect native as another has it, if its names can say it. */
function spelledIn(formula: string, dialect: DialectName, registry: Registry): string {
  let isNative = false;
  const spelled = formula.replaceAll(/\w+(?=\()/g, (name) => {
    const operator = registry.find(name, "native");
    if (registry.find(name, dialect) === operator) return name;
    const alias = operator?.aliases?.[dialect]?.[0];
    if (alias === undefined) isNative = true;
    return alias ?? name;
  });
  return isNative ? `${formula} in dialect native` : spelled;
}

function remedyOfDialects(name: string, dialect: DialectName, registry: Registry): string | undefined {
  for (const other of ["native", "qlib", "gtja191"] as const) {
    const operator = registry.find(name, other);
    if (operator)
      return `${name} of dialect ${other}: ${spelledIn(signatureOf(operator), dialect, registry)}`;
  }
  return undefined;
}

function remedyByDistance(name: string, known: readonly string[]): string | undefined {
  const familyOf = (one: string) => FAMILY.exec(one)?.[0].replace("_", "").toLowerCase();
  const kin = known.filter((one) => familyOf(one) === familyOf(name));
  const byStem = new Map(kin.map((one) => [one.replace(FAMILY, ""), one]));
  const nearest = byStem.get(nearestName(name.replace(FAMILY, ""), byStem.keys()) ?? "");
  return nearest && `did you mean ${nearest}?`;
}
