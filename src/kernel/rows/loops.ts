import type { Code, Local } from "../emit/code.ts";

/** Runs the body for `i` from 0 to a number known at compile time, at least once. */
export function forEach(code: Code, i: Local, end: number, body: () => void, step = 1): void {
  code.i32(0).set(i);
  code.loop((again) => {
    body();
    code.get(i).i32(step).op("i32.add").tee(i).i32(end).op("i32.lt_u").branchIf(again);
  });
}

/** Runs the body for `i` from its current value to `end`, possibly never. */
export function forRest(code: Code, i: Local, end: Local, body: () => void): void {
  code.block((done) => {
    code.loop((again) => {
      code.get(i).get(end).op("i32.ge_u").branchIf(done);
      body();
      code.get(i).i32(1).op("i32.add").set(i).branch(again);
    });
  });
}

/** Pushes the address of an element; elements have `2 ** shift` bytes. */
export function element(code: Code, base: Local, index: Local, shift: number): Code {
  return code.get(base).get(index).i32(shift).op("i32.shl").op("i32.add");
}
