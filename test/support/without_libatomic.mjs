/**
 * Run by npm's own Node after an install, for a machine on which the Node that came with it does not start: from 25 on Node's
 * builds for Linux need libatomic, which Debian and Ubuntu do not bring by themselves. As root it is installed; elsewhere
 * Node 24 takes the place.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NODE = "node_modules/node/bin/node";
const OLDER = "24.21.0";

const runs = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;

if (runs(NODE, "--version")) process.exit();
if (process.getuid() === 0 && runs("apt-get", "update")) runs("apt-get", "install", "--yes", "libatomic1");
if (!runs(NODE, "--version")) {
  console.log(
    `libatomic is missing here (Debian's libatomic1): Node ${OLDER} is used, which is some 10 % slower`,
  );
  const name = `node-${process.platform}-${process.arch}`;
  // By npm's own Node, since the shell would find the one that does not start; in a folder of its own, whose program of the same
  // name takes no other one's place.
  const folder = mkdtempSync(join(tmpdir(), "factorloom-node-"));
  const npm = [
    process.env.npm_execpath,
    "install",
    "--prefix",
    folder,
    "--ignore-scripts",
    `${name}@${OLDER}`,
  ];
  spawnSync(process.execPath, npm, { stdio: ["ignore", "ignore", "inherit"] });
  copyFileSync(join(folder, "node_modules", name, "bin/node"), NODE);
  rmSync(folder, { recursive: true });
}
