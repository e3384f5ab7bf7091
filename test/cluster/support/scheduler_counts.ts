import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessCluster } from "./processes/process_cluster.ts";

/** What a scheduler counts: `tasks` that it knows, `clients`, `workers`. */
export async function schedulerCounts({
  folder,
}: Pick<ProcessCluster, "folder">): Promise<{ tasks: number; clients: number; workers: number }> {
  const { services } = JSON.parse(readFileSync(join(folder, "scheduler.json"), "utf8")) as {
    services: { dashboard: number };
  };
  const answer = await fetch(`http://127.0.0.1:${services.dashboard}/json/counts.json`);
  return (await answer.json()) as { tasks: number; clients: number; workers: number };
}
