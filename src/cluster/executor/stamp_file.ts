import { writeSync } from "node:fs";
import type { StampRecord } from "../protocol/protocol.ts";

/** Names the descriptor of the file in the environment of an executor. */
const VARIABLE = "FACTORLOOM_STAMPS";

/**
 * Says in a file what an executor has begun: it is busy while an operator of a user runs, which may never return, so that
 * its worker must read it there.
 */
export class StampFile {
  readonly #descriptor: number | null;
  #turn = 0;

  constructor(environment: NodeJS.ProcessEnv = process.env) {
    const text = environment[VARIABLE];
    this.#descriptor = text === undefined ? null : Number(text);
  }

  begin(what: Omit<StampRecord, "turn">): void {
    if (this.#descriptor === null) return;
    this.#turn++;
    writeSync(this.#descriptor, `${JSON.stringify({ turn: this.#turn, ...what })}\n`, 0);
  }

  end(): void {
    if (this.#descriptor !== null) writeSync(this.#descriptor, "\n", 0);
  }
}
