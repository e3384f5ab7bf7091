import { Script } from "node:vm";
import { expect, test } from "vitest";
import { reportPage } from "../../../src/pages/report/report_page.ts";
import { madeUpRun } from "./made_up_run.ts";

const HOSTILE = '</script><script>alert("x")</script><!-- &amp;';
const page = reportPage(madeUpRun(HOSTILE));

test("names of factors, files and causes are never markup", () => {
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  const data = /<script type="application\/json" id="data">(.*)<\/script>/.exec(page)![1]!;
  expect(data).not.toContain("<");
  expect(JSON.parse(data)).toEqual(madeUpRun(HOSTILE));
});

test("the page asks for nothing: no address, and a policy that forbids requests", () => {
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/\b(?:src|href)="(?!#)[^"]/);
  expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:\/\//);
});

test("the modules of its script are one script: no import is left, no name is there twice", () => {
  expect(page).not.toMatch(/^(?:import|export) /m);
  const script = /<script type="module">([\s\S]*)<\/script>/.exec(page)![1]!;
  expect(() => new Script(script)).not.toThrow();
});

test("a thousand factors make a page of less than 2 MB", () => {
  expect(reportPage(madeUpRun("alpha", 1000)).length).toBeLessThan(2e6);
});
