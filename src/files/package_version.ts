import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

let version: string | null = null;

/** Version of this package, as it was when it was first asked for. */
export function packageVersion(): string {
  version ??= versionOf(fileURLToPath(import.meta.resolve("factorloom/package.json")));
  return version;
}

function versionOf(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
