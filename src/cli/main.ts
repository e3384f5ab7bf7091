#!/usr/bin/env node
/**
 * Checks the version of Node before anything else is loaded: older ones do not understand the code, or warn of the SQLite
 * that locks journals.
 */
const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];

if (major > 25 || (major === 25 && minor >= 7) || (major === 24 && minor >= 15)) {
  const { run } = await import("./program.ts");
  await run();
} else {
  process.stderr.write(
    `E545 factorloom needs Node 24.15, 25.7 or newer, this is ${process.version}\n` +
      "  run `npm install node@26` in this folder, then `npx factorloom`, which uses that one; a checkout of the project " +
      "has its own after `npm run ready`\n",
  );
  process.exitCode = 1;
}
