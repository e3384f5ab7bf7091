/** An operator with a window state of its own. Run with `npx node examples/rise_share.ts`. */
import { compile, defineOperator, Engine, readPanel } from "factorloom";
import { rolling, type Series, type Value, type WindowState } from "factorloom/kernel";

/** How often a series rose in the last `d` rows. A count is exact: adding and subtracting never rounds. */
const rises: WindowState<{ x: Series; d: number }, { column: number; d: number; vector: number }, Value> = {
  kind: "rises",
  keyOf: ({ x, d }) => `${x.column} ${d}`,
  reserve: (layout, { x, d }) => ({ column: x.column, d, vector: layout.vectors([0]) }),
  emit(on, { d, vector }, { x }) {
    const rise = (after: Value, before: Value) => on.keepOrZero(on.gt(after, before), on.number(1));
    const entering = rise(x.now, on.lag(x, 1));
    const leaving = rise(on.lag(x, d), on.lag(x, d + 1));
    const count = on.add(on.loadVector(vector), on.sub(entering, leaving));
    on.storeVector(vector, count);
    return count;
  },
  rebuild(rows, { column, d, vector }, row, lane) {
    const values = rows.window(column, row, d + 1, lane);
    let count = 0;
    for (let i = 1; i <= d; i++) if (values[i]! > values[i - 1]!) count++;
    rows.write(vector, lane, count);
  },
};

export const riseShare = defineOperator({
  name: "ts_rise_share",
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "none",
  summary: "Share of the last d changes that were rises.",
  nulls: "Null until d + 1 rows exist and while any of their values is null.",
  source: "share of up days",
  costNs: (rows) => 20 + rows,
  windowRows: ({ d }) => d + 1,
  nullWhere: {},
  reference: ([x]) =>
    x.reduce((count, value, i) => count + (i > 0 && value > x[i - 1]! ? 1 : 0), 0) / (x.length - 1),
  states: [rises],
  lower: (on, [x], { d }) =>
    on.keep(rolling.hasEnough(on, x, d + 1), on.div(on.state(rises, { x, d }), on.number(d))),
  examples: [{ formula: "ts_rise_share(x, 2)", inputs: { x: [1, 2, 3, 3] }, output: [null, null, 1, 0.5] }],
});

if (import.meta.main) {
  const panel = await readPanel(`${import.meta.dirname}/data/sp100_daily.csv.gz`);
  const program = compile("calm = ts_rise_share(close, 20)", { operators: [riseShare] });
  await using engine = await Engine.start({ threads: 2 });
  const tables = [];
  for (const kernel of ["compiled", "reference"] as const)
    tables.push((await engine.evaluate(program, panel, { kernel })).table);
  const [compiled, reference] = tables.map((table) => [...table.getChild("calm")!]);
  const differing = compiled!.filter((value, i) => value !== reference![i]).length;
  console.log(`${compiled!.length} rows, ${differing} differ from the reference; newest ${compiled!.at(-1)}`);
}
