import { expect, test } from "vitest";
import { compile } from "../../../src/compile.ts";
import { explainPage } from "../../../src/pages/explain/explain_page.ts";

const HOSTILE = '</script><script>alert("x")</script><!-- &amp;';
const text = `param s = "a"\na = rank(close) when s == "<script>alert(1)</script>" # ${HOSTILE}\n`;
const page = explainPage(compile(text, { file: `${HOSTILE}.factors` }));

test("texts of formulas and names of files are never markup", () => {
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  const data = /<script type="application\/json" id="data">(.*)<\/script>/.exec(page)![1]!;
  expect(data).not.toContain("<");
  expect(JSON.parse(data)).toMatchObject({ file: `${HOSTILE}.factors`, source: text });
});

test("the page asks for nothing: no address, and a policy that forbids requests", () => {
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/\b(?:src|href)="(?!#)[^"]/);
  expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:\/\//);
});

test("the script has no line left that only a module beside it could run", () => {
  expect(page).not.toMatch(/^(?:import|export) /m);
});
