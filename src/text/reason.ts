/** The first line of an error of the system or DuckDB, without the kind of error and the file name. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.split("\n", 1)[0] ?? "";
  return line.replace(/^[A-Za-z ]+ Error: /, "").replace(/ '\/[^']*'|:? "\/[^"]*"|: \/.*$/g, "");
}
