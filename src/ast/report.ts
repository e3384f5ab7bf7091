import type { Diagnostic } from "../errors.ts";
import { DIAGNOSTICS_MAX } from "../limits.ts";
import type { Source, Span } from "../text/source.ts";

/** Collects diagnostics; the same mistake at the same place (a definition used twice) counts once. */
export class Report {
  readonly source: Source;
  readonly #diagnostics = new Map<string, Diagnostic>();

  constructor(source: Source) {
    this.source = source;
  }

  get isFull(): boolean {
    return this.#diagnostics.size >= DIAGNOSTICS_MAX;
  }

  get diagnostics(): Diagnostic[] {
    return [...this.#diagnostics.values()];
  }

  add(code: string, span: Span, message: string, remedy: string): void {
    const key = `${code} ${span.start} ${message}`;
    if (!this.isFull && !this.#diagnostics.has(key)) {
      this.#diagnostics.set(key, this.source.diagnostic(code, span, message, remedy));
    }
  }
}
