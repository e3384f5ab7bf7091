import { parentPort, workerData } from "node:worker_threads";

/** What a thread of `measureCeiling` is given: it adds up `count` numbers, again and again, while `go` is 1. */
export interface CeilingLoop {
  readonly count: number;
  readonly go: Int32Array<SharedArrayBuffer>;
}

/** Times that one round over `count` numbers took, in ns, on average over the time that `go` is 1. */
function measure({ count, go }: CeilingLoop): number {
  const values = new Float64Array(count).fill(1);
  let sum = 0;
  // Compiled before it counts.
  for (let warm = 0; warm < 20; warm++) sum += addUp(values);
  parentPort!.postMessage("ready");
  Atomics.wait(go, 0, 0);
  const started = performance.now();
  let rounds = 0;
  while (Atomics.load(go, 0) === 1) {
    sum += addUp(values);
    rounds++;
  }
  if (sum < 0) throw new Error("sums of ones are not negative");
  return (1e6 * (performance.now() - started)) / rounds;
}

/** Four sums beside each other, which a core adds at a time. */
function addUp(values: Float64Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < values.length; i += 4) {
    a += values[i]!;
    b += values[i + 1]!;
    c += values[i + 2]!;
    d += values[i + 3]!;
  }
  return a + b + c + d;
}

parentPort?.postMessage(measure(workerData as CeilingLoop));
