import type { ResultDifference } from "../../difference/result_difference.ts";
import { counted } from "../../text/counted.ts";
import { formatTable } from "../terminal/text_table.ts";

/** A difference for a terminal. */
export function diffText(result: ResultDifference): string {
  const { compared, onlyInA, onlyInB, rowCount, rowsOnlyInA, rowsOnlyInB, differences } = result;
  const lines = [
    `${counted(compared.length, "factor")} and ${counted(rowCount, "row")} compared: ` +
      (differences.length === 0
        ? "no cell differs"
        : `${counted(differences.length, "factor")} with other values`),
  ];
  if (rowsOnlyInA > 0) lines.push(`${counted(rowsOnlyInA, "row")} only in the first`);
  if (rowsOnlyInB > 0) lines.push(`${counted(rowsOnlyInB, "row")} only in the second`);
  if (onlyInA.length > 0) lines.push(`only in the first: ${onlyInA.join(", ")}`);
  if (onlyInB.length > 0) lines.push(`only in the second: ${onlyInB.join(", ")}`);
  if (differences.length > 0) lines.push(tableOf(result));
  return lines.join("\n");
}

function tableOf({ differences }: ResultDifference): string {
  const header = ["factor", "cells", "null in one", "absolute", "relative", "ulp", "first cell", "a", "b"];
  const rows = differences.map(({ name, cellCount, nullCount, absoluteMax, relativeMax, ulpMax, first }) => [
    name,
    cellCount,
    nullCount,
    absoluteMax.toPrecision(3),
    relativeMax.toPrecision(3),
    ulpMax.toPrecision(3),
    `${first.time} ${first.symbol}`,
    valueText(first.a),
    valueText(first.b),
  ]);
  return formatTable(header, rows);
}

const valueText = (value: number | null) => (Object.is(value, -0) ? "-0" : String(value));
