import { spawnSync } from "node:child_process";
import { installNeeds } from "./support/install_needs.ts";

/**
 * `npm test`, once npm's packages are there: installs what tests need beside them, then checks types and style, and runs the
 * tests but the generated ones, which `npm run test:fifth` draws more of. As root it installs unasked (`--no-install`: not),
 * elsewhere with `--install`, by sudo. Other words go to Vitest, and name the tests, generated ones too:
 *
 * npm test -- --install
 * npm test -- test/live
 */
const words = process.argv.slice(2);
if (!words.includes("--no-install")) await installNeeds(words.includes("--install"));
const named = words.filter((word) => word !== "--install" && word !== "--no-install");
const ofVitest = named.length > 0 ? named : ["--project", "!generated"];
for (const [command, ...args] of [
  ["npm", "run", "--silent", "check"],
  ["vitest", "run", ...ofVitest],
] as [string, ...string[]][]) {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
