import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../src/errors.ts";
import { DIAGNOSTICS_MAX } from "../../src/limits.ts";
import { renderDiagnostics, Source } from "../../src/text/source.ts";

function snippetAt(text: string, start: number, end = start + 1, remedy = "fix it"): string {
  return new Source("f", text).diagnostic("E000", { start, end }, "message", remedy).snippet;
}

describe("positions", () => {
  test.each([
    ["LF", "ab\ncd\n\ne"],
    ["CR", "ab\rcd\r\re"],
  ])("count lines and columns from 1 (%s)", (_, text) => {
    const source = new Source("f", text);
    const positions = [...text, ""].map((_character, offset) => {
      const { line, column } = source.position(offset);
      return `${line}:${column}`;
    });
    expect(positions).toEqual(["1:1", "1:2", "1:3", "2:1", "2:2", "2:3", "3:1", "4:1", "4:2"]);
  });

  test("CRLF is one line end", () => {
    const source = new Source("f", "a\r\nb\r\n\r\nc");
    expect(source.position(3)).toEqual({ line: 2, column: 1 });
    expect(source.position(8)).toEqual({ line: 4, column: 1 });
  });

  test("columns count UTF-16 units", () => {
    expect(new Source("f", "\u{1f600}x").position(2)).toEqual({ line: 1, column: 3 });
  });

  test("of an empty text are 1:1", () => {
    expect(new Source("f", "").position(0)).toEqual({ line: 1, column: 1 });
  });
});

describe("snippets", () => {
  test("show the line and mark the place with the remedy behind it", () => {
    expect(snippetAt("a = b\nc = dd + e\nf = g", 10, 12)).toBe("  | c = dd + e\n  |     ^^ fix it");
  });

  test("of an empty line are a caret", () => {
    expect(snippetAt("\n\n", 0)).toBe("  | \n  | ^ fix it");
    expect(snippetAt("", 0)).toBe("  | \n  | ^ fix it");
    expect(snippetAt("a\n\nb", 2)).toBe("  | \n  | ^ fix it");
  });

  test("mark the end of a line behind its last character", () => {
    expect(snippetAt("a = (b\nc", 6)).toBe("  | a = (b\n  |       ^ fix it");
    expect(snippetAt("a = (b\r\nc", 6)).toBe("  | a = (b\n  |       ^ fix it");
    expect(snippetAt("a = (b", 6)).toBe("  | a = (b\n  |       ^ fix it");
  });

  test("of a place that goes over several lines show the first", () => {
    expect(snippetAt("a = f(b,\n  c)", 4, 13)).toBe("  | a = f(b,\n  |     ^^^^ fix it");
  });

  test("keep the caret in place behind tabs", () => {
    expect(snippetAt("\ta\t= b", 5)).toBe("  |  a = b\n  |      ^ fix it");
  });

  test("show blanks for characters that move the cursor or cannot be seen", () => {
    expect(snippetAt("a\u001b[2J\u200b\u202e = b", 9)).toBe("  | a [2J   = b\n  |          ^ fix it");
  });

  test("of a long line show what is around the place", () => {
    const text = `${"x".repeat(500)}!${"y".repeat(500)}`;
    const [shown, carets] = snippetAt(text, 500).split("\n") as [string, string];
    expect(shown).toMatch(/^ {2}\| \.\.\.x{55}!y{54}\.\.\.$/);
    expect(carets).toBe(`  | ${" ".repeat(58)}^ fix it`);
    expect(shown[carets.indexOf("^")]).toBe("!");
  });

  test("of a long place have no more carets than the line shown", () => {
    const [shown, carets] = snippetAt("z".repeat(1000), 0, 1000).split("\n") as [string, string];
    expect(carets.lastIndexOf("^")).toBeLessThan(shown.length);
  });
});

describe("messages", () => {
  test("shorten words that have no end", () => {
    const { message, remedy } = new Source("f", "a").diagnostic(
      "E000",
      { start: 0, end: 1 },
      `unknown name ${"n".repeat(1_000_000)} sorry`,
      `no ${"r".repeat(1_000_000)}`,
    );
    expect(message).toBe(`unknown name ${"n".repeat(77)}... sorry`);
    expect(remedy).toBe(`no ${"r".repeat(77)}...`);
  });

  test("hold no control characters", () => {
    const { message } = new Source("f", "a").diagnostic(
      "E000",
      { start: 0, end: 1 },
      "found \u001b[2J\n\u2028",
      "x",
    );
    expect(message).toBe("found  [2J  ");
  });
});

test("carets stand below what they point at, also behind letters that take two columns", () => {
  const text = 'x = "贵州茅台" + rnak(y)';
  const start = text.indexOf("rnak");
  expect(snippetAt(text, start, start + 4)).toBe(`  | ${text}\n  | ${" ".repeat(17)}^^^^ fix it`);
  expect(snippetAt(text, 4, 10)).toBe(`  | ${text}\n  | ${" ".repeat(4)}${"^".repeat(10)} fix it`);
});

describe("renderDiagnostics", () => {
  const diagnostic: Diagnostic = {
    code: "E205",
    message: "unknown name x",
    remedy: "did you mean y?",
    file: "dir/a.factors",
    line: 3,
    column: 7,
    snippet: "  | a = x\n  |     ^ did you mean y?",
  };

  test("puts code, file, line and column before the message and the snippet below it", () => {
    expect(renderDiagnostics([diagnostic, { ...diagnostic, line: 4 }])).toMatchInlineSnapshot(`
      "E205 dir/a.factors:3:7: unknown name x
        | a = x
        |     ^ did you mean y?
      E205 dir/a.factors:4:7: unknown name x
        | a = x
        |     ^ did you mean y?"
    `);
  });

  test("says so where there may be more", () => {
    const many = Array.from({ length: DIAGNOSTICS_MAX }, () => diagnostic);
    expect(renderDiagnostics(many)).toMatch(/\nonly the first 100 mistakes are listed$/);
    expect(renderDiagnostics(many.slice(1))).not.toContain("only the first");
  });
});
