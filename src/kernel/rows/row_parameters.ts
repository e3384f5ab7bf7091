import type { Code, Local } from "../emit/code.ts";

/** Parameters of a function that computes one row: addresses of the row in the columns, and the node id. */
export interface RowParameters {
  readonly input: Local;
  /** The group's codes; some other address for a node without a group. */
  readonly codes: Local;
  readonly output: Local;
  readonly node: Local;
}

export function rowParameters({ locals: { parameters } }: Code): RowParameters {
  const [input, codes, output, node] = [0, -3, -2, -1].map((place) => parameters.at(place) as Local);
  return { input: input!, codes: codes!, output: output!, node: node! };
}
