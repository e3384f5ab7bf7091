import { expect, test } from "vitest";
import { ERROR_CATALOGUE } from "../../src/error_catalogue/catalogue.ts";
import type { ErrorClass, ErrorEntry } from "../../src/error_catalogue/entry.ts";
import { FactorloomError } from "../../src/errors.ts";
import { cases } from "../support/trials.ts";
import { type RunnableExample, runExample } from "./run_example.ts";

type Runnable = ErrorEntry & { readonly example: RunnableExample };

const isRunnable = (entry: ErrorEntry): entry is Runnable => !("situation" in entry.example);
const runnable = ERROR_CATALOGUE.filter(isRunnable);

/** Each is a process or a compilation of its own: every sixth in `npm test`. */
const tried = cases(
  runnable.filter((_, index) => index % 6 === 0),
  runnable,
);

const NAMES: Partial<Record<ErrorClass, string>> = {
  formula: "FormulaError",
  data: "DataError",
  usage: "UsageError",
  resource: "ResourceError",
};

const isCommand = ({ example }: Runnable) => "commands" in example;

// Processes beside each other; programs one by one, for they are run in a working folder of their own.
test.concurrent.each(tried.filter(isCommand))("$code $title", check);
test.each(tried.filter((entry) => !isCommand(entry)))("$code $title", check);

async function check({ code, class: kind, example }: Runnable): Promise<void> {
  const { error, lines } = await runExample(code, example);
  expect(lines).toEqual(example.shows);
  expect(lines[0]).toMatch(new RegExp(`^${code} `));
  if (error === null) return;
  expect(error).toBeInstanceOf(FactorloomError);
  expect({ code: error.code, name: error.name }).toEqual({ code, name: NAMES[kind] });
}

test("most examples are run; what is not says why", () => {
  expect(runnable.length).toBeGreaterThan(150);
  for (const { example } of ERROR_CATALOGUE)
    if ("situation" in example) expect(example.notRun).toMatch(/^(it|no|what|plans|files|Parquet|2\^31)/);
});
