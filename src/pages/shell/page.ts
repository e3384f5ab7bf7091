import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

export interface PageParts {
  readonly title: string;
  readonly style: string;
  /** Modules of the page's script: each may use what those before it export. */
  readonly scripts: readonly URL[];
  /** What the script reads with `readData`. */
  readonly data?: unknown;
  /** Markup that is there without the script. Default: the script draws all. */
  readonly body?: string;
}

const NEEDS_SCRIPT =
  "<noscript>This page draws its figures with a script of its own: allow scripts to see them.</noscript>";

/**
 * A page that is one file: it opens from disk and its policy forbids every request. Data are JSON; the script sets text
 * as text, so names of formulas are never markup.
 */
export function page({ title, style, scripts, data, body = NEEDS_SCRIPT }: PageParts): string {
  const script = scripts.map(scriptText).join("\n");
  const policy = `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeText(title)}</title>\n<style>${style}</style>\n</head>\n<body>`,
    body,
    ...(data === undefined ? [] : [`<script type="application/json" id="data">${jsonText(data)}</script>`]),
    `<script type="module">${script}</script>\n</body>\n</html>`,
  ].join("\n");
}

/** JSON in which nothing ends or begins an element. */
function jsonText(data: unknown): string {
  return JSON.stringify(data).replaceAll("<", "\\u003c");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function hashOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}

/** A module as part of one script: from the build as it is, from source without its types. */
function scriptText(url: URL): string {
  const text = readFileSync(fileURLToPath(url), "utf8");
  const plain = url.pathname.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
  return plain.replaceAll(/^import [^;]*;$/gm, "").replaceAll(/^export (?:\{\};)?/gm, "");
}

/** Modules of this folder, then those beside the module that asks, in their order, by their names before `.client`. */
export function scriptsOf(shell: readonly string[], own: readonly string[], asker: string): URL[] {
  const extension = asker.endsWith(".ts") ? ".ts" : ".js";
  const urls = (names: readonly string[], base: string) =>
    names.map((name) => new URL(`${name}.client${extension}`, base));
  return [...urls(shell, import.meta.url), ...urls(own, asker)];
}
