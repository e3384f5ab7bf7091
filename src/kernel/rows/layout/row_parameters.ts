import type { Code } from "../../emit/code.ts";
import { parameter } from "../../emit/expressions.ts";

/** Parameters of a function that computes one row: addresses of the row in the columns, and the node id. */
export function rowParameters(code: Code) {
  return {
    input: parameter(code, 0),
    /** The group's codes; some other address for a node without a group. */
    codes: parameter(code, -3),
    output: parameter(code, -2),
    node: parameter(code, -1),
  };
}
