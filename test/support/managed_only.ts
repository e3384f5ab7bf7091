import type { MemoryThresholds } from "../../src/evaluation/memory/thresholds.ts";

/** For limits that are smaller than a test's process: only what the engine manages counts. */
export const MANAGED_ONLY: MemoryThresholds = { spill: 0, refuse: 0 };
