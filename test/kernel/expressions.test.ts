import { describe, expect, test } from "vitest";
import { InternalError } from "../../src/errors.ts";
import type { Code } from "../../src/kernel/emit/code.ts";
import {
  clearBytes,
  constant,
  copyBytes,
  type I32,
  locals,
  Pointer,
  parameter,
} from "../../src/kernel/emit/expressions.ts";
import { ModuleBuilder } from "../../src/kernel/emit/module.ts";

/** Runs a function of two integers whose result is the expression. */
function run(emit: (code: Code, a: I32, b: I32) => I32, a: number, b: number): number {
  const module = new ModuleBuilder();
  const index = module.function({ parameters: ["i32", "i32"], results: ["i32"] }, (code) => {
    emit(code, parameter(code, 0), parameter(code, -1)).push();
  });
  module.export("run", index);
  const host = {
    memory: new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }),
    scratch: new WebAssembly.Global({ value: "i32" }, 0),
  };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.build(1)), { host });
  return (exports["run"] as (a: number, b: number) => number)(a, b);
}

describe("expressions", () => {
  test.each<[string, (a: I32, b: I32) => I32, number]>([
    ["sub keeps the order", (a, b) => a.sub(b), -5],
    ["numbers are operands", (a, b) => a.shiftLeft(3).add(b.and(4)), 60],
    ["comparisons are unsigned", (a) => a.sub(8).lt(a), 0],
    ["select takes the first where it is not 0", (a, b) => a.lt(b).select(a, b), 7],
    ["select takes the second where it is 0", (a, b) => a.gt(b).select(a, 33), 33],
    ["a constant may come first", (a) => constant(a.code, "i32", 100).sub(a), 93],
  ])("%s", (_, emit, expected) => {
    expect(run((_code, a, b) => emit(a, b), 7, 12)).toBe(expected);
  });

  test("is evaluated where it is used, so a local may change before", () => {
    const emit = (code: Code, a: I32) => {
      const [x] = locals(code, "i32", 1);
      const next = x.add(1);
      x.set(a);
      x.set(next);
      return next.add(x.tee(100)).add(x);
    };
    expect(run(emit, 7, 0)).toBe(9 + 100 + 100);
  });

  test("an instruction that the type does not have is refused", () => {
    expect(() => run((code) => constant(code, "f64", 1).shiftLeft(2).eq(0), 0, 0)).toThrow(InternalError);
  });

  test("only integers are taken for addresses", () => {
    const emit = () =>
      new ModuleBuilder().function({ parameters: ["f64"], results: [] }, (code) => {
        parameter(code, 0);
      });
    expect(emit).toThrow(InternalError);
  });
});

describe("memory", () => {
  test("cells lie behind the offset by their size, and an address finds them again", () => {
    const emit = (code: Code, base: I32, i: I32) => {
      const [address] = locals(code, "i32", 1);
      const doubles = new Pointer(base, "f64", 64);
      doubles.at(i).store(2.5);
      doubles.at(i, -1).store(0.5);
      address.set(doubles.addressOf(i));
      const sum = doubles.from(address).load().add(doubles.from(address, -1).load());
      const alone = new Pointer(base, "f64", 64 + 3 * 8).load();
      return sum.add(alone).to("i32.trunc_f64_u");
    };
    expect(run(emit, 16, 3)).toBe(Math.floor(2.5 + 0.5 + 2.5));
  });

  test("copies and clears", () => {
    const emit = (_: Code, from: I32, to: I32) => {
      const [source, target] = [new Pointer(from, "i32"), new Pointer(to, "i32")];
      source.from(from, 0).store(3);
      source.from(from, 1).store(40);
      copyBytes(to, from, 8);
      clearBytes(from, 4);
      const copied = target.from(to, 0).load().add(target.from(to, 1).load());
      return copied.mul(1_000).add(source.from(from, 0).load()).add(source.from(from, 1).load());
    };
    expect(run(emit, 16, 64)).toBe(43_040);
  });
});
