import type { CutSpec } from "../../../src/cluster/cut/cut_run.ts";

/** What a test says of a spec, beside what it says as it is. */
export interface DrawnSpec extends Partial<Omit<CutSpec, "costNs" | "divide">> {
  readonly lookbacks: readonly number[];
  /** Of a row: of each output, and of what all outputs share. */
  readonly rowNs?: number;
  readonly sharedNs?: number;
  /** How many outputs the memory of an executor holds. */
  readonly outputsMax?: number;
}

/** A spec of 1,000 rows of 100 lanes for four threads; costs are sums. */
export function specOf({
  rowNs = 1e5,
  sharedNs = 0,
  outputsMax = Number.POSITIVE_INFINITY,
  ...rest
}: DrawnSpec): CutSpec {
  return {
    first: 0,
    end: 1000,
    laneCount: 100,
    threadCount: 4,
    held: null,
    costNs: (outputs) => (outputs.length === 0 ? 0 : sharedNs + rowNs * outputs.length),
    divide: (outputs, groups) => {
      const size = Math.max(1, Math.min(outputsMax, Math.ceil(outputs.length / groups)));
      const count = Math.ceil(outputs.length / size);
      return Array.from({ length: count }, (_, group) => outputs.slice(group * size, (group + 1) * size));
    },
    ...rest,
  };
}
