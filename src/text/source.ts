import type { Diagnostic } from "../errors.ts";
import { DIAGNOSTICS_MAX } from "../limits.ts";
import { textWidth } from "./text_width.ts";

/** A part of the source: offsets in UTF-16 units, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const SNIPPET_CHARACTERS_MAX = 110;

/** Longer words are shortened in messages: a source may have names of millions of letters. */
const WORD_CHARACTERS_MAX = 80;

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
    const line = this.#lineAt(offset);
    return { line: line + 1, column: offset - this.#startOf(line) + 1 };
  }

  /** A diagnostic at `span` with a caret snippet; the remedy follows the carets. */
  diagnostic(code: string, span: Span, message: string, remedy: string): Diagnostic {
    const { line, column } = this.position(span.start);
    const shown = { message: printable(shortenWords(message)), remedy: printable(shortenWords(remedy)) };
    return { code, ...shown, file: this.file, line, column, snippet: this.#snippet(span, shown.remedy) };
  }

  /** 0-based line of an offset, by bisection. */
  #lineAt(offset: number): number {
    this.#lineStarts ??= lineStartsOf(this.text);
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#startOf(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Where a 0-based line starts. */
  #startOf(line: number): number {
    return this.#lineStarts?.[line] ?? this.text.length;
  }

  #snippet(span: Span, remedy: string): string {
    const line = this.#lineAt(span.start);
    const lineStart = this.#startOf(line);
    let lineEnd = this.#startOf(line + 1);
    while (lineEnd > span.start && isLineBreak(this.text[lineEnd - 1])) lineEnd -= 1;
    // A long line is shown from a little before the span.
    const isLong = lineEnd - lineStart > SNIPPET_CHARACTERS_MAX;
    const from = isLong ? Math.max(lineStart, span.start - SNIPPET_CHARACTERS_MAX / 2) : lineStart;
    const to = Math.min(lineEnd, from + SNIPPET_CHARACTERS_MAX);
    const head = from > lineStart ? "..." : "";
    const tail = to < lineEnd ? "..." : "";
    const shown = printable(this.text.slice(from, to)).trimEnd();
    const widthOf = (start: number, end: number) => textWidth(printable(this.text.slice(start, end)));
    const caretCount = Math.max(1, widthOf(span.start, Math.min(span.end, to)));
    const indent = " ".repeat(head.length + widthOf(from, span.start));
    return `  | ${head}${shown}${tail}\n  | ${indent}${"^".repeat(caretCount)} ${remedy}`;
  }
}

/** Replaces characters that are invisible or move the cursor of a terminal by blanks, but for joiners within words. */
function printable(text: string): string {
  return text.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}

function shortenWords(text: string): string {
  const shorten = (word: string) =>
    word.length > WORD_CHARACTERS_MAX ? `${word.slice(0, WORD_CHARACTERS_MAX - 3)}...` : word;
  return text.split(" ").map(shorten).join(" ");
}

function isLineBreak(character: string | undefined): boolean {
  return character === "\n" || character === "\r";
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (const { index, 0: lineBreak } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + lineBreak.length);
  return starts;
}

/** Renders diagnostics in the order of the text, each with its snippet. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const shown = diagnostics.slice(0, DIAGNOSTICS_MAX).map(renderDiagnostic);
  if (diagnostics.length >= DIAGNOSTICS_MAX)
    shown.push(`only the first ${DIAGNOSTICS_MAX} mistakes are listed`);
  return shown.join("\n");
}

export function renderDiagnostic({ code, file, line, column, message, snippet }: Diagnostic): string {
  return `${code} ${file}:${line}:${column}: ${message}\n${snippet}`;
}
