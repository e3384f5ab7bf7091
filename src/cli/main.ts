#!/usr/bin/env node
/** Older ones do not understand the code: the rest is loaded only once the version is known. */
const NODE_MAJOR_MIN = 24;

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) await import("./program.ts");
else {
  process.stderr.write(
    `E545 factorloom needs Node ${NODE_MAJOR_MIN} or newer, this is ${process.version}\n` +
      "  install a newer Node; in a checkout of the project `npx factorloom` brings its own\n",
  );
  process.exitCode = 1;
}
