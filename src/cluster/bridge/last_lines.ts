import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** The last lines that came from the streams so far. */
export function keepLastLines(streams: readonly Readable[], most: number): readonly string[] {
  const lines: string[] = [];
  for (const input of streams)
    createInterface({ input }).on("line", (line) => {
      lines.push(line);
      if (lines.length > most) lines.shift();
    });
  return lines;
}
