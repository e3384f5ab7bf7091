import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { CliCall, CliOutput } from "./cli_host.ts";

/** Runs the calls that its parent sends, one after the other. */
const DIST = join(import.meta.dirname, "../../dist/src/cli");
const PROGRAM = pathToFileURL(join(DIST, "program.js")).href;

async function run({ args, folder }: CliCall): Promise<CliOutput> {
  process.chdir(folder);
  process.argv = [process.execPath, join(DIST, "main.js"), ...args];
  process.exitCode = 0;
  const said = { stdout: "", stderr: "" };
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream) => stream.write);
  for (const [index, name] of (["stdout", "stderr"] as const).entries())
    streams[index]!.write = (text: string | Uint8Array, ...more: unknown[]) => {
      said[name] += typeof text === "string" ? text : Buffer.from(text).toString();
      const done = more.at(-1);
      if (typeof done === "function") process.nextTick(done);
      return true;
    };
  try {
    const program = (await import(PROGRAM)) as { readonly run: () => Promise<void> };
    await program.run();
    return { exitCode: Number(process.exitCode ?? 0), ...said };
  } finally {
    for (const [index, stream] of streams.entries()) {
      stream.write = writes[index]!;
      stream.removeAllListeners("error");
    }
    for (const signal of ["SIGINT", "SIGTERM"]) process.removeAllListeners(signal);
  }
}

process.on("message", (call: CliCall) => {
  run(call).then(
    (output) => process.send!(output),
    (error) => process.send!({ exitCode: 3, stdout: "", stderr: String(error) }),
  );
});
