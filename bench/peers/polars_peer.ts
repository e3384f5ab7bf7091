import { availableParallelism } from "node:os";
import type { Expr } from "nodejs-polars";
import type { Panel } from "../../src/panel.ts";
import { CORRELATIONS, type FactorName, FIELDS } from "./factors.ts";
import { lanesByRows, MissingPeer, type Peer, type PeerRun, rowsByLanes } from "./peer.ts";

const INSTALL = "install it with `npm install nodejs-polars@0.26.1`";

/** polars in this process, on as many threads as it takes by itself. */
export const POLARS_PEER: Peer = {
  name: "polars",
  runningSums: CORRELATIONS,
  measure: measurePolars,
};

async function measurePolars(panel: Panel, factors: readonly FactorName[], runs: number): Promise<PeerRun> {
  const { default: pl } = await import("nodejs-polars").catch((error: Error) => {
    throw new MissingPeer(`nodejs-polars does not load (${error.message.split("\n", 1)[0]}): ${INSTALL}`);
  });
  const { POLARS_FACTORS } = await import("./polars_factors.ts");
  const { rowCount, laneCount, fields } = panel;
  const cells = Int32Array.from({ length: rowCount * laneCount }, (_, cell) => cell);
  const frame = pl
    .DataFrame({
      lane: pl.Series(
        "lane",
        cells.map((cell) => Math.floor(cell / rowCount)),
        pl.Int32,
      ),
      row: pl.Series(
        "row",
        cells.map((cell) => cell % rowCount),
        pl.Int32,
      ),
      ...Object.fromEntries(
        FIELDS.map((name) => {
          const values = lanesByRows(fields.get(name) as Float64Array, panel);
          return [name, pl.Series(name, values, pl.Float64)];
        }),
      ),
    })
    .select("lane", "row", ...FIELDS.map((name) => pl.col(name).fillNan(null)));
  const chosen = factors.map((name) => [name, POLARS_FACTORS[name]] as const);
  const step = (of: "first" | "second") =>
    named(Object.assign({}, ...chosen.map(([, factor]) => factor[of] ?? {})));
  const query = frame
    .lazy()
    .withColumns(...step("first"))
    .withColumns(...step("second"))
    .select(...named(Object.fromEntries(chosen.map(([name, { value }]) => [name, value]))));
  const table = await query.collect();
  const wallMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    const started = performance.now();
    await query.collect();
    wallMs.push(performance.now() - started);
  }
  return {
    version: pl.version,
    threads: availableParallelism(),
    wallMs,
    values: async (factor) => {
      const column = table.select(pl.col(factor).cast(pl.Float64).fillNull(Number.NaN)).getColumn(factor);
      return rowsByLanes(column.toTypedArray() as Float64Array, panel);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

function named(columns: Readonly<Record<string, Expr>>): Expr[] {
  return Object.entries(columns).map(([name, expression]) => expression.alias(name));
}
