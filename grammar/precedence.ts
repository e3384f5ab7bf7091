/** How tightly an operator binds; a higher level binds tighter. */
export interface Precedence {
  readonly level: number;
  readonly associativity: "left" | "right" | "none";
}

/** Infix operators. Equality and order comparisons do not chain: `a < b < c` is refused, not misread. */
export const INFIX: Readonly<Record<string, Precedence>> = {
  "||": { level: 1, associativity: "left" },
  "&&": { level: 2, associativity: "left" },
  "==": { level: 3, associativity: "none" },
  "!=": { level: 3, associativity: "none" },
  "<": { level: 4, associativity: "none" },
  "<=": { level: 4, associativity: "none" },
  ">": { level: 4, associativity: "none" },
  ">=": { level: 4, associativity: "none" },
  "+": { level: 5, associativity: "left" },
  "-": { level: 5, associativity: "left" },
  "*": { level: 6, associativity: "left" },
  "/": { level: 6, associativity: "left" },
  "%": { level: 6, associativity: "left" },
  "^": { level: 8, associativity: "right" },
};

/** Prefix `-` and `!`: tighter than `*`, looser than `^`, so that `-x^2` is `-(x^2)`. */
export const PREFIX_LEVEL = 7;

/** `c ? a : b` binds loosest. */
export const TERNARY_LEVEL = 0;

/** A name, a number, a call or parentheses. */
export const PRIMARY_LEVEL = 9;
