/** First line of what the system or DuckDB says, without the kind of error and without the file name: the reason of ours. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.split("\n", 1)[0] ?? "";
  return line.replace(/^[A-Za-z ]+ Error: /, "").replace(/ '\/[^']*'|:? "\/[^"]*"|: \/.*$/g, "");
}
