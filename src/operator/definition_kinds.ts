/** What the parts of a definition are: types do not reach callers in JavaScript. */
import {
  type ArgumentKind,
  FLAG,
  FUNCTION,
  hasAll,
  isRecord,
  kindOf,
  TEXT,
  TEXTS,
} from "../text/argument_kinds.ts";

const isOneOf = (...values: readonly string[]): ArgumentKind => ({
  what: values.join(" or "),
  fits: (given) => values.includes(given as string),
  remedy: "",
});

const STATES: ArgumentKind = {
  what: "a list of window states, each with kind and rebuild",
  fits: (given) => Array.isArray(given) && given.every((state) => hasAll(state, ["kind", "rebuild"])),
  remedy: "",
};

const PARAMETERS: ArgumentKind = {
  what: "a list of { name, kind }, some with a default that is a number",
  fits: (given) => Array.isArray(given) && given.every(isParameter),
  remedy: "",
};

const EXAMPLES: ArgumentKind = { what: "a list", fits: Array.isArray, remedy: "" };

const ALIASES: ArgumentKind = {
  what: "a list of names for each dialect",
  fits: (given) => isRecord(given) && Object.values(given as object).every(TEXTS.fits),
  remedy: "",
};

const KINDS_OF_PARAMETERS = ["series", "condition", "group", "window", "delay", "constant"];

function isParameter(given: unknown): boolean {
  if (!hasAll(given, ["name", "kind"])) return false;
  const { name, kind, default: value = 0 } = given as Readonly<Record<string, unknown>>;
  return TEXT.fits(name) && KINDS_OF_PARAMETERS.includes(kind as string) && Number.isFinite(value);
}

type Kinds = Readonly<Record<string, ArgumentKind>>;

const NEEDED: Kinds = {
  parameters: PARAMETERS,
  result: isOneOf("series", "condition"),
  unit: isOneOf("same", "none", "other"),
  summary: TEXT,
  nulls: TEXT,
  source: TEXT,
  examples: EXAMPLES,
};
const OPTIONAL: Kinds = {
  aliases: ALIASES,
  symbol: TEXT,
  range: isOneOf("unit", "signed_unit"),
  laws: TEXTS,
  module: TEXT,
};
const NEEDED_OF_KERNELS: Kinds = { ...NEEDED, costNs: FUNCTION, reference: FUNCTION };
const OPTIONAL_OF_KERNELS: Kinds = { ...OPTIONAL, codeNs: FUNCTION, lower: FUNCTION };
const OF_NULLS: Kinds = { seesNulls: FLAG, nullFor: TEXTS };

const BY_AXIS: Readonly<Record<string, { readonly needed: Kinds; readonly optional: Kinds }>> = {
  elementwise: { needed: NEEDED_OF_KERNELS, optional: { ...OPTIONAL_OF_KERNELS, ...OF_NULLS } },
  rolling: {
    needed: { ...NEEDED_OF_KERNELS, windowRows: FUNCTION },
    optional: { ...OPTIONAL_OF_KERNELS, ...OF_NULLS, allowsMinPeriods: FLAG, states: STATES },
  },
  recursive: { needed: { ...NEEDED_OF_KERNELS, initialState: FUNCTION }, optional: OPTIONAL_OF_KERNELS },
  cross_section: { needed: NEEDED_OF_KERNELS, optional: OPTIONAL_OF_KERNELS },
  group: { needed: NEEDED_OF_KERNELS, optional: OPTIONAL_OF_KERNELS },
  rewrite: { needed: { ...NEEDED, formula: TEXT }, optional: OPTIONAL },
};

/** The first part of a definition that is of a wrong kind or missing; null if none is. */
export function problemOfKinds(definition: object): string | null {
  const given = definition as Readonly<Record<string, unknown>>;
  const { axis } = given;
  if (typeof axis !== "string" || !Object.hasOwn(BY_AXIS, axis))
    return `axis is one of ${Object.keys(BY_AXIS).join(", ")}`;
  const { needed, optional } = BY_AXIS[axis]!;
  for (const [part, { what, fits }] of Object.entries({ ...needed, ...optional })) {
    const value = given[part];
    const isLeftOut = value === undefined && part in optional;
    if (!isLeftOut && !fits(value)) return `${part} is ${what}, got ${kindOf(value)}`;
  }
  return null;
}
