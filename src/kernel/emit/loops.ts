import type { Code, Label } from "./code.ts";
import { type I32, type I32Local, locals } from "./expressions.ts";

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
  repeat(i.code, (done) => {
    i.ge(end).branchTo(done);
    body();
    i.set(i.add(step));
  });
}

/** Runs the body until it goes to `done`. */
export function repeat(code: Code, body: (done: Label, again: Label) => void): void {
  code.block((done) => {
    code.loop((again) => {
      body(done, again);
      code.branch(again);
    });
  });
}

/** Moves `place` to the first one up to `end` that is not before what is searched; changes `end`. */
export function bisect(place: I32Local, end: I32Local, pushIsBefore: (middle: I32) => void): void {
  const { code } = place;
  const [middle] = locals(code, "i32", 1);
  repeat(code, (found) => {
    place.ge(end).branchTo(found);
    middle.set(place.add(end).shiftRight(1));
    pushIsBefore(middle);
    code.if(
      () => place.set(middle.add(1)),
      () => end.set(middle),
    );
  });
}
