import type { Diagnostic } from "../errors.ts";
import { DIAGNOSTICS_MAX } from "../limits.ts";

/** A stretch of the source: offsets in UTF-16 units, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const SNIPPET_CHARACTERS_MAX = 110;

/** A formula text with its name; turns offsets into lines, columns and caret snippets. */
export class Source {
  readonly file: string;
  readonly text: string;
  #lineStarts: number[] | undefined;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
  }

  /** 1-based line and column of an offset. */
  position(offset: number): { line: number; column: number } {
    this.#lineStarts ??= lineStartsOf(this.text);
    const starts = this.#lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  }

  /** A diagnostic at `span` with a caret snippet; the remedy is printed behind the carets. */
  diagnostic(code: string, span: Span, message: string, remedy: string): Diagnostic {
    const { line, column } = this.position(span.start);
    return { code, message, remedy, file: this.file, line, column, snippet: this.#snippet(span, remedy) };
  }

  #snippet(span: Span, remedy: string): string {
    const lineStart = this.text.lastIndexOf("\n", span.start - 1) + 1;
    const newline = this.text.indexOf("\n", span.start);
    const lineEnd = newline < 0 ? this.text.length : newline;
    // A long line is shown from a little before the place concerned.
    const isLong = lineEnd - lineStart > SNIPPET_CHARACTERS_MAX;
    const from = isLong ? Math.max(lineStart, span.start - SNIPPET_CHARACTERS_MAX / 2) : lineStart;
    const to = Math.min(lineEnd, from + SNIPPET_CHARACTERS_MAX);
    const head = from > lineStart ? "..." : "";
    const tail = to < lineEnd ? "..." : "";
    const shown = this.text
      .slice(from, to)
      .replace(/[\p{Cc}\p{Cf}]/gu, " ")
      .trimEnd();
    const caretCount = Math.max(1, Math.min(span.end, to) - span.start);
    const indent = " ".repeat(head.length + span.start - from);
    return `  | ${head}${shown}${tail}\n  | ${indent}${"^".repeat(caretCount)} ${remedy}`;
  }
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Renders diagnostics in the order of the text, each with its snippet. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const shown = diagnostics.slice(0, DIAGNOSTICS_MAX).map(renderDiagnostic);
  const hiddenCount = diagnostics.length - shown.length;
  if (hiddenCount > 0) shown.push(`... and ${hiddenCount} more`);
  return shown.join("\n");
}

function renderDiagnostic({ code, file, line, column, message, snippet }: Diagnostic): string {
  return `${code} ${file}:${line}:${column}: ${message}\n${snippet}`;
}
