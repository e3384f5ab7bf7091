import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stampOf } from "../../../src/jobs/input/input_files.ts";
import type { NewInput } from "../../../src/jobs/input/input_source.ts";
import { evaluateBatch } from "../../../src/jobs/service/evaluate_batch.ts";
import type { JobState } from "../../../src/jobs/state/job_state.ts";
import type { LaneFile } from "../../../src/jobs/state/lane_source.ts";
import { fileFolder } from "../../support/file_folder.ts";

test("a file whose end is found after its last rows are evaluated is in the batch", async () => {
  const path = join(fileFolder(), "bars.csv");
  writeFileSync(path, "");
  const state = {
    async *rows(files: Iterable<LaneFile>) {
      for (const file of files) {
        yield { rowCount: 5 };
        await file.afterRead!(Array(5).fill({ time: 1n, bytes: new Uint8Array(0) }), 60);
      }
    },
  };
  const input = { file: await stampOf(path) } as NewInput;
  const done: string[] = [];
  const { evaluated } = await evaluateBatch([input], {
    state: state as unknown as JobState,
    staged: { append: async () => {} } as never,
    ledger: { begin: null },
    limits: { rows: 1e9, ms: 1e9 },
    reading: { signal: new AbortController().signal } as never,
    stop: new AbortController().signal,
    onEvaluated: (each) => done.push(each),
  });
  expect(evaluated).toMatchObject([{ input, rows: 60 }]);
  expect(done).toEqual([path]);
});
