import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { datasetTaken, storeFailed } from "./errors.ts";

/** Names the run that a dataset belongs to; readers of datasets pass over names that start with `_`. */
const RUN_FILE = "_factorloom.json";

/**
 * Makes the folder of a dataset. One that the same run was writing is taken up: its files stay.
 *
 * @throws UsageError E629 for a folder that holds anything else; ResourceError E609 if it cannot be made.
 */
export async function claimDataset(folder: string, run: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    const names = await readdir(folder);
    if (names.length === 0) await writeFile(join(folder, RUN_FILE), `${JSON.stringify({ run })}\n`);
    else if (!names.includes(RUN_FILE) || (await runOf(folder)) !== run) throw datasetTaken(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw storeFailed(folder, (error as Error).message);
  }
}

async function runOf(folder: string): Promise<unknown> {
  const text = await readFile(join(folder, RUN_FILE), "utf8");
  try {
    return (JSON.parse(text) as { run?: unknown }).run;
  } catch {
    return null;
  }
}
