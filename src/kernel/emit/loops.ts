import type { I32, I32Local } from "./expressions.ts";

/** Runs the body for `i` from 0 to `end`, at least once. */
export function forEach(i: I32Local, end: I32 | number, body: () => void, step = 1): void {
  i.set(0);
  forSome(i, end, body, step);
}

/** Runs the body for `i` from its current value to `end`, at least once. */
export function forSome(i: I32Local, end: I32 | number, body: () => void, step = 1): void {
  i.code.loop((again) => {
    body();
    i.tee(i.add(step)).lt(end).branchTo(again);
  });
}

/** Runs the body for `i` from its current value to `end`, possibly never. */
export function forRest(i: I32Local, end: I32, body: () => void, step = 1): void {
  i.code.block((done) => {
    i.code.loop((again) => {
      i.ge(end).branchTo(done);
      body();
      i.set(i.add(step));
      i.code.branch(again);
    });
  });
}
