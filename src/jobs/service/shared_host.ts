import type { EngineHost } from "../../evaluation/evaluation.ts";
import { type HostOptions, startHost } from "../../evaluation/start_host.ts";
import { type HostMetrics, hostMetrics } from "../../metrics/engine_metrics.ts";

/** The threads that all jobs of a process share. Once they are lost, others are started for the next run. */
export class SharedHost {
  readonly #options: HostOptions;
  #starting: Promise<EngineHost> | null = null;
  /** The threads that were started last. */
  #started: EngineHost | null = null;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** Of the threads that were started last; null before the first. */
  get metrics(): HostMetrics | null {
    return this.#started && hostMetrics(this.#started);
  }

  /** Threads that are not lost so far. @throws as `startHost`; the next call tries again. */
  async current(): Promise<EngineHost> {
    this.#starting ??= startHost(this.#options);
    const starting = this.#starting;
    const forget = () => {
      if (this.#starting === starting) this.#starting = null;
    };
    const host = await starting.catch((error) => {
      forget();
      throw error;
    });
    this.#started = host;
    if (!host.pool.isLost) return host;
    await host.pool.close();
    forget();
    return await this.current();
  }

  /** Ends the threads; no job may run any more. */
  async close(): Promise<void> {
    await (await this.#starting)?.pool.close();
  }
}
