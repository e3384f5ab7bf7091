import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take long for their size: a run begins with them, so that it does not end with one of them alone. */
const SLOW = [
  "live/lives/",
  "cluster/faults/",
  "cluster/dask_behaviour",
  "conformance/operators",
  "docs/errors/examples",
  "difference/mutated_formulas",
  "data/number_types",
  "jobs/run",
  "jobs/kill",
  "reasons/",
  "kernel/compiled_bits",
  "cli/eval/streams",
  "cli/cluster_interruption",
  "cli/commands/cluster",
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) =>
      SLOW.some((part) => moduleId.includes(`/test/${part}`));
    const { slow = [], others = [] } = Object.groupBy(await super.sort(files), (file) =>
      isSlow(file) ? "slow" : "others",
    );
    return [...slow, ...others];
  }
}
