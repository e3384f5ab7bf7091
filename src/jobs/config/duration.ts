import type { ConfigNode } from "./config_text.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `500ms`, `10s`, `5m`, `1h`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})\s*(ms|s|m|h)$/.exec(text.trim());
  return match ? Number(match[1]) * UNIT_MS[match[2] as string]! : undefined;
}

/** Milliseconds of a duration of at least `min` of them. */
export function readDuration(node: ConfigNode, remedy: string, min = 0): number | undefined {
  const text = node.text();
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  return ms !== undefined && ms >= min ? ms : node.wrong(`${text} is not a duration`, remedy);
}
