import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";

/** What a command is to have of its own. */
type Namespace = "--pid" | "--mount";

/** The words before a command that runs in namespaces of its own, as root there, whoever the user is. */
export const inNamespace = (...own: Namespace[]): string[] => [
  "unshare",
  "--map-root-user",
  ...own,
  // A namespace of processes begins with a child, which ends with its parent.
  ...(own.includes("--pid") ? ["--fork", "--kill-child"] : []),
];

function runs([command, ...args]: readonly string[]): boolean {
  return spawnSync(command!, args, { stdio: "ignore" }).status === 0;
}

/** Whether users may have namespaces here, and mount file systems in them. */
export const canUnshare = (): boolean =>
  runs([...inNamespace("--pid", "--mount"), "mount", "-t", "tmpfs", "tmpfs", tmpdir()]);
