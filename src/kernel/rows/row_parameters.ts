import type { Code, Local } from "../wasm/code.ts";

/** What a function that computes one row is given: addresses of the row in the columns, and the number of its node. */
export interface RowParameters {
  /** The first argument. */
  readonly input: Local;
  /** The group's codes; of a node without a group some other address. */
  readonly codes: Local;
  readonly output: Local;
  readonly node: Local;
}

export function rowParameters({ locals: { parameters } }: Code): RowParameters {
  const [input, codes, output, node] = [0, -3, -2, -1].map((place) => parameters.at(place) as Local);
  return { input: input!, codes: codes!, output: output!, node: node! };
}
