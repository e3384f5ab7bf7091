import type { Panel } from "../../src/index.ts";

/** Days from 2024-01-02 on of symbols A, B, ...; each field has its values row by row. A cell without a row is `null`. */
export function smallPanel(
  laneCount: number,
  fields: Readonly<Record<string, readonly (number | null)[]>>,
): Panel {
  const columns = Object.entries(fields).map(([name, values]) => {
    const column = new Float64Array(new SharedArrayBuffer(8 * values.length));
    column.set(values.map((value) => value ?? Number.NaN));
    return [name, column] as const;
  });
  const [first] = Object.values(fields);
  const rowCount = first!.length / laneCount;
  return {
    rowCount,
    laneCount,
    symbols: Array.from({ length: laneCount }, (_, lane) => String.fromCharCode(65 + lane)),
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => 19_724n + BigInt(row)),
    },
    fields: new Map(columns),
    groups: new Map(),
    present: Uint8Array.from(first!, (value) => (value === null ? 0 : 1)),
  };
}
