import { DIALECTS, type Dialect, derivedFormula } from "../../grammar/dialects.ts";
import { spelledName } from "../../grammar/names.ts";
import { parseFormulas } from "../../grammar/parse.ts";
import type { Syntax } from "../../grammar/syntax.ts";
import { Source } from "../text/source.ts";
import { nearestName } from "../text/suggest.ts";
import type { Definition, Definitions } from "./definitions.ts";
import type { Param } from "./program.ts";

/** Columns that the panel offers to formulas. */
export interface PanelNames {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  /** By name, why a column that holds numbers is a group. */
  readonly groupReasons?: ReadonlyMap<string, string> | undefined;
}

/** The meaning of a name. */
export type Meaning =
  | { readonly kind: "definition"; readonly definition: Definition }
  | { readonly kind: "param"; readonly param: Param }
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "group"; readonly name: string; readonly reason: string | undefined }
  | { readonly kind: "derived"; readonly name: string; readonly expression: Syntax };

/** Group columns that formulas may use if the caller does not name the panel's own. */
export const DEFAULT_GROUPS = ["sector", "industry", "subindustry"] as const;

const SHOWN_COLUMNS_MAX = 12;

/**
 * The names of one file and its panel. A lookup tries the exact spelling among definitions, params, fields and groups,
 * in this order, with a prefix of the dialect and without; then the same without regard to letter case and to how
 * letters with accents are composed; then the derived series. So `let vwap` hides the panel's `vwap` in any spelling, and
 * a panel column `returns` hides the derived one.
 */
export class Names {
  readonly #panel: PanelNames;
  readonly #tables: readonly NameTable[];
  readonly #derived = new Map<string, Meaning>();

  constructor({ byName, params }: Definitions, panel: PanelNames) {
    this.#panel = panel;
    this.#tables = [
      new NameTable([...byName].map(([name, definition]) => [name, { kind: "definition", definition }])),
      new NameTable([...params].map(([name, param]) => [name, { kind: "param", param }])),
      new NameTable(panel.fields.map((name) => [name, { kind: "field", name }])),
      new NameTable(
        panel.groups.map((name) => [name, { kind: "group", name, reason: panel.groupReasons?.get(name) }]),
      ),
    ];
  }

  resolve(written: string, dialect: Dialect): Meaning | undefined {
    const name = localName(written, dialect);
    return (
      this.#find(({ exact }) => exact.get(written) ?? exact.get(name)) ??
      this.#find((table) => table.folded(written) ?? table.folded(name)) ??
      this.#resolveDerived(name, dialect)
    );
  }

  #find(meaningIn: (table: NameTable) => Meaning | undefined): Meaning | undefined {
    for (const table of this.#tables) {
      const meaning = meaningIn(table);
      if (meaning) return meaning;
    }
    return undefined;
  }

  /** Finds a parameterised definition, without regard to letter case. */
  findMacro(name: string): Definition | undefined {
    const [definitions] = this.#tables;
    const meaning = definitions?.exact.get(name) ?? definitions?.folded(name);
    if (meaning?.kind !== "definition") return undefined;
    const { definition } = meaning;
    return definition.statement.kind === "let" && definition.statement.parameters ? definition : undefined;
  }

  /** The remedy for an unknown name; `locals` are further candidates for a misspelling. */
  remedyFor(name: string, locals: Iterable<string>, dialect: Dialect): string {
    const dot = name.indexOf(".");
    if (dot > 0) {
      const local = name.slice(dot + 1);
      if (this.resolve(local, dialect)) {
        const owner = Object.values(DIALECTS).find(({ groupPrefix }) => groupPrefix === name.slice(0, dot));
        return `write ${spelledName(local)}${owner ? `, or begin the file with: dialect ${owner.name}` : ""}`;
      }
    }
    const plain = localName(name, dialect).toLowerCase();
    if (this.#panel.groups.length === 0 && DEFAULT_GROUPS.some((group) => group === plain))
      return "a group column: give the table that has it with --groups PATH";
    const nearest = nearestName(localName(name, dialect), this.#all(locals));
    if (nearest) return `did you mean ${spelledName(nearest)}?`;
    const list = (names: readonly string[]) => {
      const more = names.length > SHOWN_COLUMNS_MAX ? ", ..." : "";
      const shown = names.slice(0, SHOWN_COLUMNS_MAX).map(spelledName);
      return names.length === 0 ? "none" : `${shown.join(", ")}${more}`;
    };
    const hint = this.#panel.groups.length === 0 ? " (--groups PATH adds those of a table)" : "";
    return `fields: ${list(this.#panel.fields)}; groups: ${list(this.#panel.groups)}${hint}`;
  }

  *#all(locals: Iterable<string>): Iterable<string> {
    yield* locals;
    for (const { exact } of this.#tables) yield* exact.keys();
    yield "returns";
  }

  #resolveDerived(name: string, dialect: Dialect): Meaning | undefined {
    const key = name.toLowerCase();
    const known = this.#derived.get(key);
    if (known) return known;
    const formula = derivedFormula(key, dialect);
    if (formula === undefined) return undefined;
    const [statement] = parseFormulas(new Source(key, `derived = ${formula}`), DIALECTS.native).statements;
    if (statement?.kind !== "factor") return undefined;
    const meaning: Meaning = { kind: "derived", name: key, expression: statement.expression };
    this.#derived.set(key, meaning);
    return meaning;
  }
}

class NameTable {
  readonly exact: ReadonlyMap<string, Meaning>;
  /** By folded name; null where several names are one folded. */
  readonly #folded = new Map<string, Meaning | null>();

  constructor(entries: readonly [string, Meaning][]) {
    this.exact = new Map(entries);
    for (const [name, meaning] of this.exact) {
      const key = folded(name);
      this.#folded.set(key, this.#folded.has(key) ? null : meaning);
    }
  }

  /** The name's only match without regard to letter case. */
  folded(name: string): Meaning | undefined {
    return this.#folded.get(folded(name)) ?? undefined;
  }
}

/** Names of formulas are composed (NFC); those of columns are as the data have them. */
function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** The name without the dialect's prefixes: `IndClass.sector` is `sector` in alpha101, `$close` is `close` in qlib. */
function localName(name: string, dialect: Dialect): string {
  if (name.startsWith("$") && dialect.spellings.includes("$")) return name.slice(1);
  const dot = name.indexOf(".");
  const isGroup = dot > 0 && name.slice(0, dot).toLowerCase() === dialect.groupPrefix?.toLowerCase();
  return isGroup ? name.slice(dot + 1) : name;
}
