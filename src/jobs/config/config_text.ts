/** A YAML text as places that know where they stand, so that every mistake is told with its line and column. */
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, type YAMLMap } from "yaml";
import type { Diagnostic } from "../../errors.ts";
import { EXIT_CODES, FactorloomError } from "../../errors.ts";
import { renderDiagnostics, Source } from "../../text/source.ts";
import { nearestName } from "../../text/suggest.ts";

/** The configuration is wrong; `diagnostics` lists every mistake. */
const MISTAKE = "E530";

export class ConfigError extends FactorloomError {
  override readonly exitCode = EXIT_CODES.input;
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(MISTAKE, "", "");
    this.message = renderDiagnostics(diagnostics);
    this.diagnostics = diagnostics;
  }
}

/** Collects the mistakes of one configuration. */
export class ConfigReport {
  readonly source: Source;
  readonly #diagnostics: Diagnostic[] = [];

  constructor(file: string, text: string) {
    this.source = new Source(file, text);
  }

  add(start: number, end: number, message: string, remedy: string): void {
    this.#diagnostics.push(this.source.diagnostic(MISTAKE, { start, end }, message, remedy));
  }

  /** @throws ConfigError if there is a mistake. */
  check(): void {
    if (this.#diagnostics.length === 0) return;
    throw new ConfigError(this.#diagnostics.sort((a, b) => a.line - b.line || a.column - b.column));
  }
}

/** Parses the text; mistakes of its syntax end the reading, since the rest would be guessed. */
export function parseConfig(report: ConfigReport): Place {
  const document = parseDocument(report.source.text, { prettyErrors: false });
  for (const { pos, message } of document.errors) {
    report.add(pos[0], pos[1], "this is not YAML", message.split("\n", 1)[0] ?? "check the indentation");
  }
  report.check();
  return new Place(report, "", document.contents, [0, 1]);
}

type Range = readonly [start: number, end: number];

/** A value in the configuration: what it is, where it stands, and what it is called. */
export class Place {
  /** E.g. `jobs[0].sink`; empty for the whole. */
  readonly path: string;
  readonly #report: ConfigReport;
  readonly #node: Node | null;
  readonly #range: Range;

  constructor(report: ConfigReport, path: string, node: Node | null, range: Range) {
    this.path = path;
    this.#report = report;
    this.#node = node;
    this.#range = node?.range ? [node.range[0], Math.max(node.range[0] + 1, node.range[1])] : range;
  }

  /** Notes a mistake; gives undefined, so that a reader may return it. */
  wrong(message: string, remedy: string): undefined {
    this.#report.add(...this.#firstLine(), this.path ? `${this.path}: ${message}` : message, remedy);
    return undefined;
  }

  get isMap(): boolean {
    return isMap(this.#node);
  }

  get isList(): boolean {
    return isSeq(this.#node);
  }

  /** The values by key, among the known ones; an unknown, missing or doubled key is a mistake. */
  fields<K extends string>(known: readonly K[], required: readonly K[] = []): Partial<Record<K, Place>> {
    if (!isMap(this.#node)) {
      this.wrong(`expected keys with values, got ${this.#kind()}`, `keys: ${known.join(", ")}`);
      return {};
    }
    const found: Partial<Record<K, Place>> = {};
    for (const pair of (this.#node as YAMLMap).items) {
      const { name, place } = this.#entry(pair);
      if (known.includes(name as K)) found[name as K] = place.value;
      else place.key.wrong(`unknown key ${name}`, suggestion(name, known));
    }
    for (const key of required) {
      if (found[key] === undefined) this.wrong(`${key} is missing`, `add ${key}: ...`);
    }
    return found;
  }

  /** All values by key, whatever the keys. */
  entries(): [string, Place][] {
    if (!isMap(this.#node)) {
      this.wrong(`expected keys with values, got ${this.#kind()}`, "write name: value");
      return [];
    }
    return (this.#node as YAMLMap).items.map((pair) => {
      const { name, place } = this.#entry(pair);
      return [name, place.value];
    });
  }

  list(): Place[] {
    if (!isSeq(this.#node)) {
      this.wrong(`expected a list, got ${this.#kind()}`, "write [a, b], or lines that start with -");
      return [];
    }
    return this.#node.items.map(
      (item, index) => new Place(this.#report, `${this.path}[${index}]`, item as Node, this.#range),
    );
  }

  /** Text, number or boolean as it is written. */
  scalar(): string | number | boolean | undefined {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
    return this.wrong(`expected a value, got ${this.#kind()}`, "give a text or a number");
  }

  text(): string | undefined {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value === "string" && value !== "") return value;
    return this.wrong(`expected a text, got ${this.#kind()}`, "put it between quotes");
  }

  integer(min: number, max: number): number | undefined {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.wrong(`expected a whole number, got ${this.#kind()}`, `from ${min} to ${max}`);
  }

  boolean(): boolean | undefined {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    return typeof value === "boolean" ? value : this.wrong(`expected true or false`, `got ${this.#kind()}`);
  }

  oneOf<T extends string>(choices: readonly T[]): T | undefined {
    const text = this.text();
    if (text === undefined || choices.includes(text as T)) return text as T | undefined;
    return this.wrong(`${text} is not a choice`, suggestion(text, choices));
  }

  #entry(pair: Pair): { name: string; place: { key: Place; value: Place } } {
    const keyNode = pair.key as Node;
    const name = String(isScalar(keyNode) ? keyNode.value : keyNode);
    const path = this.path ? `${this.path}.${name}` : name;
    const key = new Place(this.#report, this.path, keyNode, this.#range);
    return { name, place: { key, value: new Place(this.#report, path, pair.value as Node, key.#range) } };
  }

  #kind(): string {
    if (isMap(this.#node)) return "keys with values";
    if (isSeq(this.#node)) return "a list";
    const value = isScalar(this.#node) ? this.#node.value : null;
    return value === null ? "nothing" : JSON.stringify(value);
  }

  /** The carets of a value of many lines stand below its first one. */
  #firstLine(): Range {
    const [start, end] = this.#range;
    const text = this.#report.source.text.slice(start, end);
    return [start, start + Math.max(1, text.split(/[\r\n]/, 1)[0]!.length)];
  }
}

function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest ? `did you mean ${nearest}?` : `one of: ${known.join(", ")}`;
}
