import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderNotShared } from "../protocol/errors.ts";
import { packageVersion } from "../protocol/package_version.ts";
import { orStoreFailed, removeLeftOver, temporaryName } from "../results/stored_files.ts";

/** What `probe` tasks answer, as JSON. */
export interface ProbeAnswer {
  readonly node: string;
  readonly factorloom: string;
  /** False where no folder was named. */
  readonly hasWritten: boolean;
}

/**
 * Says which versions run here, and writes a file in the folder.
 *
 * @throws UsageError E614 if this host does not see the folder; ResourceError E442 if it cannot be written.
 */
export function probe(folder: string | null): ProbeAnswer {
  if (folder !== null) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw folderNotShared(folder, "it is not there");
    const path = temporaryName(join(folder, "probe"));
    try {
      orStoreFailed(path, () => writeFileSync(path, "probe", { flag: "wx" }));
    } finally {
      removeLeftOver(path);
    }
  }
  return { node: process.versions.node, factorloom: packageVersion(), hasWritten: folder !== null };
}
