/** What a command prints on stderr but for the lines that say, on a busy machine, that it is alive. */
export function withoutSignsOfLife(stderr: string): string {
  return stderr.replaceAll(/^\.\.\. .* after \d+ s.*\n/gm, "");
}
