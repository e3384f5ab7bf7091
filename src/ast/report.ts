import type { Diagnostic } from "../errors.ts";
import { DIAGNOSTICS_MAX } from "../limits.ts";
import type { Source, Span } from "../text/source.ts";

/** Collects diagnostics; repeats of a mistake at the same place (a definition used twice) count once. */
export class Report {
  readonly source: Source;
  readonly #diagnostics = new Map<string, Diagnostic>();

  constructor(source: Source) {
    this.source = source;
  }

  get isFull(): boolean {
    return this.#diagnostics.size >= DIAGNOSTICS_MAX;
  }

  get count(): number {
    return this.#diagnostics.size;
  }

  get diagnostics(): Diagnostic[] {
    return [...this.#diagnostics.values()];
  }

  /** E202: arguments that the function does not accept. */
  wrongArguments(span: Span, message: string, remedy: string): void {
    this.add("E202", span, message, remedy);
  }

  /** E204: a value of the wrong type. */
  wrongType(span: Span, message: string, remedy: string): void {
    this.add("E204", span, message, remedy);
  }

  /** Adds a diagnostic. Pass a costly remedy as a function. */
  add(code: string, span: Span, message: string, remedy: string | (() => string)): void {
    if (this.isFull) return;
    const key = `${code} ${span.start} ${message}`;
    if (this.#diagnostics.has(key)) return;
    const found = typeof remedy === "string" ? remedy : remedy();
    this.#diagnostics.set(key, this.source.diagnostic(code, span, message, found));
  }
}
