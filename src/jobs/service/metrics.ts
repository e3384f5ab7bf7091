/** The one place that knows the library for metrics. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { portTaken } from "../errors.ts";
import type { RunOutcome } from "../journal/records.ts";
import type { RunEvent } from "./run_events.ts";

const LOOPBACK = "127.0.0.1";
const RUN_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600];

/** Metrics of a process that runs jobs, by job. */
export class JobMetrics {
  readonly #registry = new Registry();
  readonly #runs = this.#counter("factorloom_runs_total", "Runs that came to an end", "outcome");
  readonly #rows = this.#counter("factorloom_rows_total", "Rows of results committed");
  readonly #files = this.#counter("factorloom_files_total", "Input files committed");
  readonly #skipped = this.#counter("factorloom_skipped_files_total", "Input files skipped", "code");
  /** Rows of a query. */
  readonly #misplaced = {
    vanished_rows: this.#counter("factorloom_vanished_rows_total", "Rows that vanished from a query"),
    changed_rows: this.#counter(
      "factorloom_changed_rows_total",
      "Rows of a query that have other values now",
    ),
    late_rows: this.#counter("factorloom_late_rows_total", "Rows of a query that came too late"),
  };
  readonly retries = this.#counter("factorloom_retries_total", "Runs tried again");
  readonly #rebuilds = this.#counter("factorloom_rebuilds_total", "States computed again from input");
  readonly overlaps = this.#counter("factorloom_overlaps_total", "Due times during a run");
  readonly missed = this.#counter("factorloom_missed_total", "Due times that passed without a run");
  readonly #success = this.#gauge(
    "factorloom_last_success_seconds",
    "When the last good run ended, since 1970",
  );
  readonly #next = this.#gauge("factorloom_next_run_seconds", "When the next run is due, since 1970");
  readonly #seconds = new Histogram({
    name: "factorloom_run_seconds",
    help: "Length of runs",
    labelNames: ["job"] as const,
    buckets: RUN_SECONDS,
    registers: [this.#registry],
  });

  ran(job: string, outcome: RunOutcome, seconds: number, endedMs: number): void {
    this.#runs.inc({ job, outcome });
    this.#seconds.observe({ job }, seconds);
    if (outcome === "done") this.#success.set({ job }, endedMs / 1_000);
  }

  /** Counts what an event of a run tells. */
  count(job: string, event: RunEvent): void {
    switch (event.kind) {
      case "skipped":
        this.#skipped.inc({ job, code: event.code });
        break;
      case "late_rows":
      case "vanished_rows":
      case "changed_rows":
        this.#misplaced[event.kind].inc({ job }, event.count);
        break;
      case "rebuilding":
        this.#rebuilds.inc({ job });
        break;
      case "committed":
      case "completed":
        this.#files.inc({ job }, event.kind === "committed" ? 1 : event.files);
        this.#rows.inc({ job }, event.rows);
    }
  }

  nextRun(job: string, dueMs: number | null): void {
    this.#next.set({ job }, dueMs === null ? Number.NaN : dueMs / 1_000);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #counter<L extends string = never>(name: string, help: string, ...labels: L[]): Counter<"job" | L> {
    return new Counter({ name, help, labelNames: ["job", ...labels], registers: [this.#registry] });
  }

  #gauge(name: string, help: string): Gauge<"job"> {
    return new Gauge({ name, help, labelNames: ["job"], registers: [this.#registry] });
  }
}

/** A server of metrics on loopback. */
export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `/metrics` and `/healthz`; port 0 takes a free one.
 *
 * @throws ResourceError E450 if the port is taken.
 */
export async function serveMetrics(metrics: JobMetrics, port: number): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.url === "/healthz") {
      response.writeHead(200, { "content-type": "text/plain" }).end("ok\n");
    } else if (request.url === "/metrics") {
      void metrics.text().then((text) => {
        response.writeHead(200, { "content-type": metrics.contentType }).end(text);
      });
    } else response.writeHead(404, { "content-type": "text/plain" }).end("/metrics or /healthz\n");
  });
  server.listen(port, LOOPBACK);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw portTaken(port, error.code ?? error.message);
  });
  const close = async () => {
    server.close();
    server.closeAllConnections();
    if (server.listening) await once(server, "close");
  };
  return { port: (server.address() as AddressInfo).port, close };
}
