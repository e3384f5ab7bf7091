import { expect, test } from "vitest";
import { type ErrorSection, errorSections } from "../../../src/cli/terminal/errors_page.ts";
import { FactorloomError } from "../../../src/errors.ts";
import { cases } from "../../support/trials.ts";
import { type Example, examplesOf } from "./example.ts";
import { runExample } from "./run_example.ts";

interface Runnable extends Pick<ErrorSection, "code" | "title" | "thrown"> {
  readonly example: Example;
}

const sections = await errorSections();
const runnable: readonly Runnable[] = sections.flatMap((section) =>
  examplesOf(section.examples).map((example) => ({ ...section, example })),
);

/** Each is a process or a compilation of its own: every sixth in `npm test`. */
const tried = cases(
  runnable.filter((_, index) => index % 6 === 0),
  runnable,
);

const isCommand = ({ example }: Runnable) => example.commands.length > 0;

// Processes beside each other; programs one by one, for they are run in a working folder of their own.
test.concurrent.each(tried.filter(isCommand))("$code $title", check);
test.each(tried.filter((entry) => !isCommand(entry)))("$code $title", check);

async function check({ code, thrown, example }: Runnable): Promise<void> {
  const { error, lines } = await runExample(code, example);
  expect(lines).toEqual(example.shows);
  expect(lines[0]).toMatch(new RegExp(`^${code} `));
  if (error === null) return;
  expect(error).toBeInstanceOf(FactorloomError);
  expect(error.code).toBe(code);
  expect(thrown).toContain(`\`${error.name}\``);
}

test("most sections have an example that is run", () => {
  expect(runnable.length).toBeGreaterThan(150);
});
