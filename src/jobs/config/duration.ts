const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `500ms`, `10s`, `5m`, `1h`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})\s*(ms|s|m|h)$/.exec(text.trim());
  return match ? Number(match[1]) * UNIT_MS[match[2] as string]! : undefined;
}
