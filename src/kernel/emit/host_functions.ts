import { type ModuleBuilder, takes } from "./module.ts";

/** The functions of the host that kernels call, with the number of their parameters. */
const PARAMETERS = {
  /** task, row, byte of the lane, address of the state before and after: writes the results to scratch. */
  evaluate: 5,
  /** state, row, byte of the lane: `bounds.ensure` for the lanes side by side. */
  ensure: 3,
  /** state, row, byte of the lane, lanes as bits: `bounds.shrink` for those lanes. */
  shrink: 4,
  /** task, row, byte of the lane, lanes as bits: writes the results of those lanes to scratch. */
  evaluateOpen: 4,
  /** node, addresses of values and of results, bytes of either: runs the node's reference on a segment. */
  segment: 4,
  /** node, row: runs the node's reference on a row. */
  row: 2,
};

type Of<T> = Readonly<Record<keyof typeof PARAMETERS, T>>;

/** Indices of the functions in a module. */
export type HostFunctions = Of<number>;

const ofEach = <T>(make: (name: string, parameters: number) => T): Of<T> =>
  Object.fromEntries(Object.entries(PARAMETERS).map(([name, count]) => [name, make(name, count)])) as Of<T>;

export function importHost(module: ModuleBuilder): HostFunctions {
  return ofEach((name, count) => module.importFunction(name, takes(count)));
}

/** Stand-ins that do nothing. */
export const IDLE_HOST = ofEach(() => () => {});
