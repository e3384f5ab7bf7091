import { afterAll, beforeAll, expect, test } from "vitest";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { isMemoryShort } from "../../../src/evaluation/memory/memory_need.ts";
import { Engine } from "../../../src/index.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { Seeded } from "../../support/seeded.ts";
import { arenaCounts } from "../../support/small_arenas.ts";
import { triesAll } from "../../support/trials.ts";
import { HOSTS, type LifeRow, USUAL } from "./life_rows.ts";
import { RandomLife } from "./random_life.ts";

/** The hosts of the lives of a row. */
class Hosts {
  readonly #started = new Map<string, Promise<EngineHost>>();
  /** The number of memories of each program that was opened there. */
  readonly #arenas = new Map<string, number[]>();

  readonly named = (name: string): Promise<EngineHost> => {
    const host = this.#started.get(name) ?? this.#start(name);
    this.#started.set(name, host);
    return host;
  };

  async #start(name: string): Promise<EngineHost> {
    const host = await HOSTS[name]!();
    this.#arenas.set(name, arenaCounts(host));
    return host;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of this.#started.values()) await (await host).pool.close();
  }

  check(): void {
    for (const [name, counts] of this.#arenas)
      if (name.startsWith("memories") || (name === "small memories" && counts.length > 200))
        expect(counts.filter((count) => count > 1).length, name).toBeGreaterThan(counts.length / 50);
  }
}

/**
 * Whatever happens to a session, each of its rows has the bits of `evaluate` over all bars so far, but for factors that
 * its last update has named in `shortOfHistory`.
 */
export function testLives(rows: readonly LifeRow[]): void {
  let calm: Engine;
  beforeAll(async () => {
    calm = await Engine.start({ threads: 1 });
  });
  afterAll(() => calm.close());

  test.each(rows)("$lives lives: $name", async (row) => {
    const { lives, sees } = row;
    const habits = { ...USUAL, ...row };
    const random = new Seeded();
    const folder = fileFolder();
    const seen = new Map<string, number>();
    const note = (what: string, count = 1) => {
      if (count > 0) seen.set(what, (seen.get(what) ?? 0) + count);
    };
    await using hosts = new Hosts();
    for (let life = 0; life < lives; life++) {
      const one = new RandomLife(random, habits, { host: hosts.named, calm, folder, note });
      try {
        await one.run();
      } catch (error) {
        if (isMemoryShort(error) && one.hosts.includes("small memories")) {
          // Another one is lived in its place.
          note("too large");
          if (seen.get("too large")! < 1 + lives / 4) life--;
          continue;
        }
        const where = `life ${life} of seed ${random.seed}, after ${one.trail.join(", ")}`;
        throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
      }
    }
    hosts.check();
    console.log(Object.fromEntries(seen));
    expect(seen.get("cells")).toBeGreaterThan(10 * lives);
    expect(seen.get("too large") ?? 0).toBeLessThan(1 + lives / 4);
    const wanted = triesAll ? [...sees, ...Object.keys(habits.actions)] : [];
    for (const what of wanted) expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
  });
}
