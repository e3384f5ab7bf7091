import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { withoutSignsOfLife } from "./signs_of_life.ts";

/** One call of the command line. */
export interface CliCall {
  readonly args: readonly string[];
  readonly folder: string;
}

/** What a process would have left behind. */
export interface CliOutput {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs calls of the built command line one after the other in a process that has loaded its modules before: what a call says
 * and how it ends is as in a process of its own, whose start costs ten times as much as most calls. The process ends with
 * its parent.
 */
export class CliHost {
  #child: ChildProcess | null = null;
  #last: Promise<unknown> = Promise.resolve();

  run(call: CliCall): Promise<CliOutput> {
    const output = this.#last.then(() => this.#runNext(call));
    this.#last = output.catch(() => {});
    return output;
  }

  async #runNext(call: CliCall): Promise<CliOutput> {
    this.#child ??= fork(join(import.meta.dirname, "cli_host_process.ts"), { stdio: "ignore" });
    const child = this.#child;
    const over = new AbortController();
    const { signal } = over;
    const ended = once(child, "exit", { signal }).then(([code]) => {
      throw new Error(`the command line ended its process (${code}): ${call.args.join(" ")}`);
    });
    ended.catch(() => {}); // seen where it is raced
    const answered = once(child, "message", { signal });
    child.send(call);
    const [output] = (await Promise.race([answered, ended])) as [CliOutput];
    over.abort();
    return { ...output, stderr: withoutSignsOfLife(output.stderr) };
  }
}
