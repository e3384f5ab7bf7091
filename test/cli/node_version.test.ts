import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

/** Runs the command line under a Node that says it is another version. */
function runUnder(version: string) {
  const pretend = `Object.defineProperties(process, {
    version: { value: "v${version}" },
    versions: { value: { ...process.versions, node: "${version}" } },
  });`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, MAIN, "--version"];
  return spawnSync(process.execPath, args, { encoding: "utf8" });
}

test("an old Node gets a message before any code that it does not understand", () => {
  const { status, stdout, stderr } = runUnder("20.20.2");
  expect(stderr).toBe(
    "E545 factorloom needs Node 24.15, 25.7 or newer, this is v20.20.2\n" +
      "  run `npm install node@26` in this folder, then `npx factorloom`, which uses that one; a checkout of the project " +
      "has its own after `npm run ready`\n",
  );
  expect([status, stdout]).toEqual([1, ""]);
});

test.each([
  ["24.14.1", 1],
  ["24.15.0", 0],
  ["25.6.1", 1],
  ["25.7.0", 0],
  ["26.0.0", 0],
])("Node %s: exit code %i", (version, status) => {
  expect(runUnder(version).status).toBe(status);
});
