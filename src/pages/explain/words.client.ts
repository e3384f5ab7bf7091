import { readData } from "../shell/elements.client.ts";
import type { Box, ExplainData } from "./explain_data.ts";

/** What the page says of places, factors and counts. */

export const data = readData<ExplainData>();

export function sourceOf({ start, end }: Box): string {
  return data.source.slice(start, end).replaceAll(/\s+/g, " ");
}

export function placeOf({ line, column }: { readonly line: number; readonly column: number }): string {
  return `${data.file}:${line}:${column}`;
}
