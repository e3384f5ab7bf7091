import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Version of this package: client and executors of a run are of the same one. */
export function packageVersion(): string {
  const manifest = fileURLToPath(import.meta.resolve("factorloom/package.json"));
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
