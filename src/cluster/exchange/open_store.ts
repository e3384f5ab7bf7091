import { dirname } from "node:path";
import { isFolder, makeFolders } from "../../files/folders.ts";
import { storeFailed, storeMissing } from "../protocol/errors.ts";

/** Checks that the store exists, or creates it. @throws UsageError E630; ResourceError E609 if it cannot be created. */
export async function openStore(path: string, mayCreate: boolean): Promise<void> {
  if (await isFolder(path)) return;
  if (!mayCreate) throw storeMissing(path, await nearestFolder(path));
  await makeFolders(path).catch((error) => {
    throw storeFailed(path, error.message);
  });
}

async function nearestFolder(path: string): Promise<string> {
  let folder = dirname(path);
  while (!(await isFolder(folder))) folder = dirname(folder);
  return folder;
}
