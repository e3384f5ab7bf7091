import type { Code } from "./code.ts";
import { ModuleBuilder } from "./module.ts";

/**
 * True if `relaxed_madd` rounds once on this machine; WebAssembly leaves that to the processor. If so, the error of a
 * product costs one instruction instead of sixteen; its bits are the same either way.
 */
export function hasFusedMultiply(): boolean {
  const builder = new ModuleBuilder();
  const probe = builder.function({ parameters: ["f64", "f64", "f64"], results: ["f64"] }, (code: Code) => {
    for (const parameter of code.locals.parameters) code.get(parameter).op("f64x2.splat");
    code.op("f64x2.relaxed_madd").extractLane("f64", 0);
  });
  builder.export("probe", probe);
  const bytes = builder.build(0);
  if (!WebAssembly.validate(bytes)) return false;
  const host = {
    memory: new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }),
    scratch: new WebAssembly.Global({ value: "i32" }, 0),
  };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { host });
  const multiplyAdd = exports["probe"] as (a: number, b: number, c: number) => number;
  const x = 1 + 2 ** -30;
  return multiplyAdd(x, x, -(x * x)) === 2 ** -60;
}
