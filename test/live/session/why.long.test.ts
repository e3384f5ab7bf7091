import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compile, Engine, readPanel } from "../../../src/index.ts";
import { Seeded } from "../../support/seeded.ts";

const examples = join(import.meta.dirname, "../../../examples");

test("the newest cells of a session have the explanations that the history gives", async () => {
  await using engine = await Engine.start({ threads: 2 });
  const panel = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
  const file = "alpha101.factors";
  const program = compile(readFileSync(join(examples, file), "utf8"), {
    file,
    groups: [...panel.groups.keys()],
  });
  await using session = await engine.openSession(program, { warmup: panel, retainRows: 600 });
  const day = Number(panel.time.values[panel.rowCount - 1]!);
  const time = new Date(day * 86_400_000).toISOString().slice(0, 10);
  const random = new Seeded();
  for (let i = 0; i < 8; i++) {
    const { name: factor } = program.factors[random.below(program.factors.length)]!;
    const symbol = panel.symbols[random.below(panel.laneCount)]!;
    const what = `seed ${random.seed}: ${factor} of ${symbol}`;
    const wanted = await engine.why(program, panel, { factor, symbol, time });
    expect(await session.why(factor, symbol), what).toEqual(wanted);
  }
});
