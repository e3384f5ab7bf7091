import { Xoshiro128 } from "../../src/bench/random.ts";
import type { SimulatedNode } from "./simulation.ts";

/** What every part of every block really costs: drawn before the schedule, so that all policies meet the same costs. */
export class PartCosts {
  readonly #starts: Int32Array;
  readonly #ns: Float64Array;
  readonly #partsOfBlock: number;

  /**
   * @param noise sigma of the lognormal factor of mean 1 on a part's share of its node's cost
   * @param slower how many times as long parts take
   */
  constructor(nodes: readonly SimulatedNode[], blocks: number, noise: number, seed: number, slower: number) {
    this.#starts = new Int32Array(nodes.length + 1);
    nodes.forEach(({ partCount }, node) => {
      this.#starts[node + 1] = this.#starts[node]! + partCount;
    });
    this.#partsOfBlock = this.#starts[nodes.length]!;
    this.#ns = new Float64Array(blocks * this.#partsOfBlock);
    const random = Xoshiro128.seeded(BigInt(seed));
    for (let block = 0; block < blocks; block++) {
      nodes.forEach(({ partCount, costNs }, node) => {
        for (let part = 0; part < partCount; part++)
          this.#ns[this.#indexOf(block, node, part)] =
            ((slower * costNs) / partCount) * (noise === 0 ? 1 : lognormal(random, noise));
      });
    }
  }

  partNs(block: number, node: number, part: number): number {
    return this.#ns[this.#indexOf(block, node, part)]!;
  }

  /** The longest part: no number of executors ends the node sooner. */
  longestPartNs(block: number, node: number): number {
    const parts = this.#ns.subarray(this.#indexOf(block, node, 0), this.#indexOf(block, node + 1, 0));
    return parts.reduce((longest, ns) => Math.max(longest, ns), 0);
  }

  get workNs(): number {
    return this.#ns.reduce((sum, ns) => sum + ns, 0);
  }

  get partCount(): number {
    return this.#ns.length;
  }

  #indexOf(block: number, node: number, part: number): number {
    return block * this.#partsOfBlock + this.#starts[node]! + part;
  }
}

/** A lognormal number of mean 1 (Box and Muller 1958). */
export function lognormal(random: Xoshiro128, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
  return Math.exp(sigma * normal - (sigma * sigma) / 2);
}
