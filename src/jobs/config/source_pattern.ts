import { dirname, sep } from "node:path";

/** Splits a pattern into the folder before its first wildcard, and the rest; `rest` is empty without a wildcard. */
export function splitPattern(pattern: string): { readonly folder: string; readonly rest: string } {
  const parts = pattern.split(sep);
  const named = parts.findIndex((part) => /[*?[\]{}()!+@]/.test(part));
  if (named < 0) return { folder: dirname(pattern), rest: "" };
  return { folder: parts.slice(0, named).join(sep) || sep, rest: parts.slice(named).join(sep) };
}
