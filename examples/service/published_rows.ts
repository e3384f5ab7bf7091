/** What the service has published: a file of lines of JSON, one for each bar. */
import { appendFileSync, closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import type { LiveRow } from "factorloom";

interface PublishedRow {
  /** In units of the session's times. */
  readonly time: string;
  /** One value for each symbol, by column. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
}

/** Each bar is in the file once, whatever happens: it says itself which one is the newest. */
export class PublishedRows implements Disposable {
  readonly #file: number;
  /** Time of the newest row; null without any. */
  #lastTime: bigint | null;

  /** @param path of the file, which is made if it is missing; a line without an end, as a loss of power leaves it, is cut off */
  constructor(path: string) {
    this.#file = openSync(path, "a+");
    const text = readFileSync(this.#file);
    const length = text.lastIndexOf("\n") + 1;
    ftruncateSync(this.#file, length);
    const rows = publishedRows(text.toString("utf8", 0, length));
    this.#lastTime = rows.length === 0 ? null : BigInt(rows.at(-1)!.time);
  }

  /** Adds the row of a bar, unless the file has it: after a crash the service runs again what its last checkpoint lacks. */
  add(time: bigint, table: LiveRow["table"]): void {
    if (this.#lastTime !== null && time <= this.#lastTime) return;
    const names = table.schema.names.slice(1) as string[];
    const columns = Object.fromEntries(names.map((name) => [name, [...table.getChild(name)!]]));
    const row: PublishedRow = { time: `${time}`, columns };
    appendFileSync(this.#file, `${JSON.stringify(row)}\n`);
    this.#lastTime = time;
  }

  /** After this the rows survive a loss of power. */
  sync(): void {
    fdatasyncSync(this.#file);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** The rows in the text of such a file. */
export function publishedRows(text: string): PublishedRow[] {
  return text.split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as PublishedRow)));
}
