import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Version of this package, which is the same for client and executors of a run. */
export function packageVersion(): string {
  const manifest = fileURLToPath(import.meta.resolve("factorloom/package.json"));
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
