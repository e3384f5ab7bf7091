import { windowRowsOf } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Plan } from "./plan.ts";
import { ALL_ROWS, Retention } from "./retention.ts";

/** Windows are rebuilt cell by cell, which takes about eight times as long as moving them on. */
const REBUILT_ROWS_MAX = Number(process.env.X ?? 64);

export function warmUpRows({ tasks, nodes, outputs }: Plan, registry: Registry): readonly (number | null)[] {
  const windowRows = tasks.map(({ operator, settings }) => {
    const known = registry.kernel(operator);
    const rows = known.axis === "recursive" ? ALL_ROWS : known.axis === "rolling" ? windowRowsOf(known, settings) : 0;
    return rows > REBUILT_ROWS_MAX ? ALL_ROWS : rows;
  });
  const columns = new Set(outputs.map(({ column }) => column));
  const { catchUpRows } = new Retention(tasks, windowRows, nodes, nodes.map(() => true), columns);
  return nodes.map(({ kind, id }) => (kind === "input" ? null : catchUpRows[id]!));
}
