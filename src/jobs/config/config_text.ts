/** A YAML text as values that know their position, so that every mistake is reported with its line and column. */
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, type YAMLMap } from "yaml";
import type { Diagnostic } from "../../errors.ts";
import { FactorloomError } from "../../errors.ts";
import { renderDiagnostics, Source } from "../../text/source.ts";
import { suggestion } from "../../text/suggest.ts";

const MISTAKE = "E530";

/** The configuration is wrong; `diagnostics` lists every mistake, `problem` and `remedy` are the first. */
export class ConfigError extends FactorloomError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(MISTAKE, diagnostics[0]!.message, diagnostics[0]!.remedy);
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

/** Parses the text. @throws ConfigError for mistakes of YAML syntax: what follows them would be guessed. */
export function parseConfig(report: ConfigReport): ConfigNode {
  const document = parseDocument(report.source.text, { prettyErrors: false });
  for (const { pos, message, code } of document.errors) {
    if (code === "MULTIPLE_DOCS")
      report.add(...pos, "a second document begins", "a configuration is one: remove this line");
    else report.add(...pos, "this is not YAML", message.split("\n", 1)[0] ?? "check the indentation");
  }
  report.check();
  return new ConfigNode(report, "", document.contents, [0, 1]);
}

type Range = readonly [start: number, end: number];

/** A value of the configuration with its path and its position in the text. */
export class ConfigNode {
  /** E.g. `jobs[0].sink`; empty for the whole. */
  readonly path: string;
  readonly #report: ConfigReport;
  readonly #yaml: Node | null;
  readonly #range: Range;

  constructor(report: ConfigReport, path: string, yaml: Node | null, range: Range) {
    this.path = path;
    this.#report = report;
    this.#yaml = yaml;
    this.#range = yaml?.range ? [yaml.range[0], Math.max(yaml.range[0] + 1, yaml.range[1])] : range;
  }

  /** Reports a mistake; returns undefined, so that a reader may return it. */
  wrong(message: string, remedy: string): undefined {
    this.#report.add(...this.#firstLine(), this.path ? `${this.path}: ${message}` : message, remedy);
    return undefined;
  }

  get isMap(): boolean {
    return isMap(this.#yaml);
  }

  get isList(): boolean {
    return isSeq(this.#yaml);
  }

  /** Values by known key; unknown and missing keys are mistakes. */
  fields<K extends string>(known: readonly K[], required: readonly K[] = []): Partial<Record<K, ConfigNode>> {
    if (!isMap(this.#yaml)) {
      this.wrong(`expected keys with values, got ${this.#kind()}`, `keys: ${known.join(", ")}`);
      return {};
    }
    const found: Partial<Record<K, ConfigNode>> = {};
    for (const pair of (this.#yaml as YAMLMap).items) {
      const { name, key, value } = this.#entry(pair);
      if (known.includes(name as K)) found[name as K] = value;
      else key.wrong(`unknown key ${name}`, remedyAmong(name, known));
    }
    for (const key of required) {
      if (found[key] === undefined) this.wrong(`${key} is missing`, `add ${key}: ...`);
    }
    return found;
  }

  /** All values by key, whatever the keys. */
  entries(): [string, ConfigNode][] {
    if (!isMap(this.#yaml)) {
      this.wrong(`expected keys with values, got ${this.#kind()}`, "write name: value");
      return [];
    }
    return (this.#yaml as YAMLMap).items.map((pair) => {
      const { name, value } = this.#entry(pair);
      return [name, value];
    });
  }

  list(): ConfigNode[] {
    if (!isSeq(this.#yaml)) {
      this.wrong(`expected a list, got ${this.#kind()}`, "write [a, b], or lines that start with -");
      return [];
    }
    return this.#yaml.items.map(
      (item, index) => new ConfigNode(this.#report, `${this.path}[${index}]`, item as Node, this.#range),
    );
  }

  /** Text, number or boolean as it is written. */
  scalar(): string | number | boolean | undefined {
    const value = isScalar(this.#yaml) ? this.#yaml.value : undefined;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
    return this.wrong(`expected a value, got ${this.#kind()}`, "give a text or a number");
  }

  text(): string | undefined {
    const value = isScalar(this.#yaml) ? this.#yaml.value : undefined;
    if (typeof value === "string" && value !== "") return value;
    const remedy = value === "" ? "it must not be empty" : "put it between quotes";
    return this.wrong(`expected a text, got ${this.#kind()}`, remedy);
  }

  integer(min: number, max: number): number | undefined {
    const value = isScalar(this.#yaml) ? this.#yaml.value : undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.wrong(`expected a whole number, got ${this.#kind()}`, `from ${min} to ${max}`);
  }

  boolean(): boolean | undefined {
    const value = isScalar(this.#yaml) ? this.#yaml.value : undefined;
    return typeof value === "boolean" ? value : this.wrong(`expected true or false`, `got ${this.#kind()}`);
  }

  oneOf<T extends string>(choices: readonly T[]): T | undefined {
    const text = this.text();
    if (text === undefined || choices.includes(text as T)) return text as T | undefined;
    return this.wrong(`${text} is not a choice`, remedyAmong(text, choices));
  }

  #entry(pair: Pair): { name: string; key: ConfigNode; value: ConfigNode } {
    const keyNode = pair.key as Node;
    const name = String(isScalar(keyNode) ? keyNode.value : keyNode);
    const path = this.path ? `${this.path}.${name}` : name;
    const key = new ConfigNode(this.#report, this.path, keyNode, this.#range);
    return { name, key, value: new ConfigNode(this.#report, path, pair.value as Node, key.#range) };
  }

  #kind(): string {
    if (isMap(this.#yaml)) return "keys with values";
    if (isSeq(this.#yaml)) return "a list";
    const value = isScalar(this.#yaml) ? this.#yaml.value : null;
    return value === null ? "nothing" : JSON.stringify(value);
  }

  /** Carets mark the first line of a value of many lines. */
  #firstLine(): Range {
    const [start, end] = this.#range;
    const text = this.#report.source.text.slice(start, end);
    return [start, start + Math.max(1, text.split(/[\r\n]/, 1)[0]!.length)];
  }
}

function remedyAmong(name: string, known: readonly string[]): string {
  return suggestion(name, known, `one of: ${known.join(", ")}`);
}
