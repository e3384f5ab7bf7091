import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { errorSections } from "../../../src/cli/terminal/errors_page.ts";
import { examplesOf } from "./example.ts";

const root = join(import.meta.dirname, "../../..");
const sections = await errorSections();
const codes = sections.map(({ code }) => code);

const files = ["src", "grammar", "operators", "bench"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|py)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name))),
);
const read = (file: string) => readFileSync(join(root, file), "utf8");
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

test("each code that the project names has a section, and each section is of such a code", () => {
  const named = files.flatMap((file) =>
    [...withoutComments(read(file)).matchAll(/["'`]([ES]\d{3})["'` ]/g)].map(([, code]) => code!),
  );
  expect([...new Set(named)].sort(), "a code has a section of docs/errors.md").toEqual(codes);
});

test("the class is that of what is thrown", () => {
  const found = files.flatMap((file) =>
    [
      ...read(file).matchAll(
        /(?:new |errorsOf\()(DataError|UsageError|ResourceError)(?:\(\s*|, )"(E\d{3})"/g,
      ),
    ].map(([, name, code]) => ({ code, name })),
  );
  expect(found.length).toBeGreaterThan(90);
  for (const { code, name } of found)
    expect(sections.find((section) => section.code === code)?.thrown, code).toContain(`\`${name}\``);
});

test("sections are in ascending order, and no code of an earlier version stands in two", () => {
  expect(codes).toEqual([...codes].sort());
  const all = [...codes, ...sections.flatMap(({ former }) => former)];
  expect(new Set(all).size).toBe(all.length);
});

test("titles are short and differ; every text is a sentence; every section has an example", () => {
  const titles = sections.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  for (const { code, title, meaning, remedy, examples } of sections) {
    expect(title, code).toMatch(/^[A-Z].{5,70}[^.]$/);
    for (const text of [meaning, remedy]) expect(text, code).toMatch(/^[A-Za-z-][\s\S]*\.$/);
    if (examplesOf(examples).length === 0) expect(examples, code).toMatch(/^For example: [\s\S]+\.$/);
  }
});
