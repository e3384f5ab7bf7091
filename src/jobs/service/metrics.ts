/** Metrics of a process that runs jobs, and their server. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { JOB_METRICS } from "../../metrics/definitions.ts";
import type { HostMetrics } from "../../metrics/engine_metrics.ts";
import { CONTENT_TYPE, PrometheusMetrics } from "../../metrics/prometheus.ts";
import { portTaken } from "../errors.ts";
import type { RunOutcome } from "../ledger/records.ts";
import type { RunEvent } from "./run_events.ts";

const LOOPBACK = "127.0.0.1";

/** Metrics of a process that runs jobs: by job, and of the engine that they share. */
export class JobMetrics {
  readonly #jobs = new PrometheusMetrics();
  readonly #engine: () => HostMetrics | null;
  readonly #runs = this.#jobs.add(JOB_METRICS.runs);
  readonly #rows = this.#jobs.add(JOB_METRICS.rows);
  readonly #files = this.#jobs.add(JOB_METRICS.files);
  readonly #skipped = this.#jobs.add(JOB_METRICS.skipped);
  readonly #misplaced = {
    vanished_rows: this.#jobs.add(JOB_METRICS.vanished_rows),
    changed_rows: this.#jobs.add(JOB_METRICS.changed_rows),
    late_rows: this.#jobs.add(JOB_METRICS.late_rows),
  };
  readonly retries = this.#jobs.add(JOB_METRICS.retries);
  readonly #rebuilds = this.#jobs.add(JOB_METRICS.rebuilds);
  readonly overlaps = this.#jobs.add(JOB_METRICS.overlaps);
  readonly missed = this.#jobs.add(JOB_METRICS.missed);
  readonly waiting = this.#jobs.add(JOB_METRICS.waiting);
  readonly #success = this.#jobs.add(JOB_METRICS.success);
  readonly #next = this.#jobs.add(JOB_METRICS.next);
  readonly #seconds = this.#jobs.add(JOB_METRICS.seconds);

  /** @param engine null while there is none */
  constructor(engine: () => HostMetrics | null) {
    this.#engine = engine;
  }

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

  async text(): Promise<string> {
    const engine = new PrometheusMetrics();
    const measured = this.#engine();
    if (measured) engine.addEngine(measured);
    return (await this.#jobs.text()) + (await engine.text());
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
        response.writeHead(200, { "content-type": CONTENT_TYPE }).end(text);
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
