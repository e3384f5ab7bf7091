import { dirname, sep } from "node:path";

/** The folder that a pattern names, and what it leaves open, which may be nothing. */
export function splitPattern(pattern: string): { readonly folder: string; readonly rest: string } {
  const parts = pattern.split(sep);
  const named = parts.findIndex((part) => /[*?[\]{}()!+@]/.test(part));
  if (named < 0) return { folder: dirname(pattern), rest: "" };
  return { folder: parts.slice(0, named).join(sep) || sep, rest: parts.slice(named).join(sep) };
}
