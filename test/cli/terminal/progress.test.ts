import ora from "ora";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Progress } from "../../../src/cli/terminal/progress.ts";

let written: string[] = [];
beforeEach(() => {
  written = [];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

test("work that nobody watches on a terminal says every five seconds that it goes on", () => {
  const progress = new Progress(ora);
  progress.start("read");
  vi.advanceTimersByTime(4_900);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(200);
  progress.stop();
  progress.start("evaluate");
  progress.show(0.25, "1,259 times");
  vi.advanceTimersByTime(10_000);
  progress.show(0.5, "another part");
  vi.advanceTimersByTime(5_000);
  progress.stop();
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual([
    "... read after 5 s\n",
    "... evaluate: 25 % of 1,259 times after 5 s, about 15 s left\n",
    "... evaluate: 25 % of 1,259 times after 10 s, about 30 s left\n",
    "... evaluate: 50 % of another part after 15 s, about 5 s left for this part\n",
  ]);
});

test.each([
  ["1", false],
  ["", "cyan"],
])("NO_COLOR=%s makes the spinner %s", (value, color) => {
  vi.stubEnv("NO_COLOR", value);
  const spinner = vi.fn(ora);
  new Progress(spinner);
  expect(spinner.mock.calls[0]?.[0]).toMatchObject({ color });
});
