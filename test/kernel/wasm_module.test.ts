import { describe, expect, test } from "vitest";
import { InternalError } from "../../src/errors.ts";
import type { Code, Label } from "../../src/kernel/emit/code.ts";
import {
  MEMORY,
  type MemoryName,
  PLAIN,
  type PlainName,
  type WasmType,
} from "../../src/kernel/emit/instructions.ts";
import { ModuleBuilder, SCRATCH_GLOBAL, type Signature } from "../../src/kernel/emit/module.ts";

type Emit = (code: Code) => void;

function moduleOf(
  { parameters = [], results = [] }: Partial<Signature>,
  emit: Emit,
): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  module.export("run", module.function({ parameters, results }, emit));
  return module.build(1);
}

interface Machine {
  readonly run: (...values: (number | bigint)[]) => number | bigint;
  readonly bytes: Uint8Array;
}

function start(binary: Uint8Array<ArrayBuffer>, host: Record<string, unknown> = {}): Machine {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const scratch = new WebAssembly.Global({ value: "i32" }, 4096);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(binary), {
    host: { memory, scratch, ...host },
  });
  return { run: instance.exports["run"] as Machine["run"], bytes: new Uint8Array(memory.buffer) };
}

const runOf = (signature: Partial<Signature>, emit: Emit) => start(moduleOf(signature, emit)).run;

const TYPES: readonly WasmType[] = ["i32", "i64", "f64", "v128"];
const STACKS: readonly WasmType[][] = TYPES.flatMap((a) => [
  [a],
  ...TYPES.flatMap((b) => [[a, b], ...TYPES.map((c) => [a, b, c])]),
]);

const pushAll = (code: Code) => {
  for (const parameter of code.locals.parameters) code.get(parameter);
};

/** Every signature with which the machine accepts an instruction. */
function signaturesOf(name: PlainName): string[] {
  return STACKS.flatMap((parameters) =>
    TYPES.filter((result) => {
      const emit = (code: Code) => {
        pushAll(code);
        code.op(name);
      };
      return WebAssembly.validate(moduleOf({ parameters, results: [result] }, emit));
    }).map((result) => `${parameters.join(" ")} -> ${result}`),
  );
}

/** The signature that an instruction's name implies. */
function namedSignature(name: string): string {
  const [prefix, verb] = name.split(".") as [string, string];
  const type = /x[24]$/.test(prefix) || prefix === "v128" ? "v128" : prefix;
  const from = /_([if]\d+)(_[su])?$/.exec(verb)?.[1];
  if (from) return `${from} -> ${type}`;
  if (verb.startsWith("extend_") && type === "v128") return "v128 -> v128";
  if (verb === "splat") return `${prefix.slice(0, 3)} -> v128`;
  if (/_true$|^bitmask$/.test(verb)) return "v128 -> i32";
  if (type === "v128" && /^sh[lr]/.test(verb)) return "v128 i32 -> v128";
  if (/^relaxed_/.test(verb)) return "v128 v128 v128 -> v128";
  if (/^(sqrt|neg|abs|not|clz)$/.test(verb)) return `${type} -> ${type}`;
  if (verb === "eqz") return `${type} -> i32`;
  const isComparison = /^(eq|ne|[lg][te](_[su])?)$/.test(verb) && type !== "v128";
  return `${type} ${type} -> ${isComparison ? "i32" : type}`;
}

const named = (Object.keys(PLAIN) as PlainName[]).filter((name) => name.includes("."));

describe("instructions", () => {
  test.each(named)("%s takes and gives what its name says", (name) => {
    expect(signaturesOf(name)).toEqual([namedSignature(name)]);
  });

  const { NaN: none, POSITIVE_INFINITY: inf } = Number;
  const NUMBERS = [0, -0, 1, -1, 0.5, 2.5, -3.5, 1e300, -1e-300, 5e-324, inf, -inf, none];
  const UNARY: Readonly<Record<string, (a: number) => number>> = {
    sqrt: Math.sqrt,
    abs: Math.abs,
    neg: (a) => -a,
  };
  const BINARY: Readonly<Record<string, (a: number, b: number) => number | boolean>> = {
    add: (a, b) => a + b,
    sub: (a, b) => a - b,
    mul: (a, b) => a * b,
    div: (a, b) => a / b,
    min: Math.min,
    max: Math.max,
    pmin: (a, b) => (b < a ? b : a),
    pmax: (a, b) => (a < b ? b : a),
    eq: (a, b) => a === b,
    ne: (a, b) => a !== b,
    lt: (a, b) => a < b,
    gt: (a, b) => a > b,
    le: (a, b) => a <= b,
    ge: (a, b) => a >= b,
  };
  const verbOf = (name: PlainName) => name.split(".")[1]!;
  const onDoubles = named.filter((name) => /^f64(x2)?\./.test(name));

  /** Runs an instruction on doubles, in both lanes for vectors; a mask becomes 1 or 0. */
  function runner(name: PlainName, count: number, isTest: boolean) {
    const isVector = name.startsWith("f64x2");
    const parameters = new Array<WasmType>(count).fill("f64");
    return runOf({ parameters, results: ["f64"] }, (code) => {
      for (const parameter of code.locals.parameters) {
        code.get(parameter);
        if (isVector) code.op("f64x2.splat");
      }
      code.op(name);
      if (isTest && isVector) code.op("i64x2.bitmask").i32(3).op("i32.div_u");
      if (isTest) code.op("f64.convert_i32_u");
      else if (isVector) code.extractLane("f64", 1);
    });
  }

  test.each(onDoubles.filter((name) => verbOf(name) in UNARY))("%s", (name) => {
    const run = runner(name, 1, false);
    for (const a of NUMBERS) expect(run(a)).toBe(UNARY[verbOf(name)]!(a));
  });

  test.each(onDoubles.filter((name) => verbOf(name) in BINARY))("%s", (name) => {
    const meaning = BINARY[verbOf(name)]!;
    const isTest = typeof meaning(1, 2) === "boolean";
    const run = runner(name, 2, isTest);
    for (const a of NUMBERS) for (const b of NUMBERS) expect(run(a, b)).toBe(Number(meaning(a, b)));
  });

  const WHOLE = [
    0n,
    1n,
    -1n,
    2n,
    7n,
    -8n,
    2n ** 31n - 1n,
    -(2n ** 31n),
    2n ** 40n + 3n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ];
  const signed = (bits: 32 | 64, value: bigint) => BigInt.asIntN(bits, value);
  const unsigned = (bits: 32 | 64, value: bigint) => BigInt.asUintN(bits, value);
  const leadingZeros = (value: bigint) => BigInt(64 - (value === 0n ? 0 : value.toString(2).length));
  /** Arguments are signed; `u` makes them unsigned. */
  const ON_WHOLE: Readonly<Record<string, (bits: 32 | 64, a: bigint, b: bigint) => bigint | boolean>> = {
    add: (_, a, b) => a + b,
    sub: (_, a, b) => a - b,
    mul: (_, a, b) => a * b,
    div_u: (bits, a, b) => unsigned(bits, a) / unsigned(bits, b),
    rem_u: (bits, a, b) => unsigned(bits, a) % unsigned(bits, b),
    and: (_, a, b) => a & b,
    or: (_, a, b) => a | b,
    xor: (_, a, b) => a ^ b,
    shl: (bits, a, b) => a << (unsigned(bits, b) % BigInt(bits)),
    shr_s: (bits, a, b) => a >> (unsigned(bits, b) % BigInt(bits)),
    shr_u: (bits, a, b) => unsigned(bits, a) >> (unsigned(bits, b) % BigInt(bits)),
    eq: (_, a, b) => a === b,
    ne: (_, a, b) => a !== b,
    le_s: (_, a, b) => a <= b,
    lt_u: (bits, a, b) => unsigned(bits, a) < unsigned(bits, b),
    gt_u: (bits, a, b) => unsigned(bits, a) > unsigned(bits, b),
    le_u: (bits, a, b) => unsigned(bits, a) <= unsigned(bits, b),
    ge_u: (bits, a, b) => unsigned(bits, a) >= unsigned(bits, b),
  };

  test.each(named.filter((name) => /^i(32|64)\./.test(name) && verbOf(name) in ON_WHOLE))("%s", (name) => {
    const bits = name.startsWith("i32") ? 32 : 64;
    const type = `i${bits}` as const;
    const isTest = typeof ON_WHOLE[verbOf(name)]!(bits, 1n, 2n) === "boolean";
    const run = runOf({ parameters: [type, type], results: [isTest ? "i32" : type] }, (code) => {
      pushAll(code);
      code.op(name);
    });
    const given = WHOLE.map((value) => signed(bits, value));
    for (const a of given) {
      for (const b of given.filter((value) => value !== 0n || !/^(div|rem)/.test(verbOf(name)))) {
        const result = BigInt(bits === 32 ? run(Number(a), Number(b)) : run(a, b));
        expect(result).toBe(signed(bits, BigInt(ON_WHOLE[verbOf(name)]!(bits, a, b))));
      }
    }
  });

  test("i64.clz and i32.eqz", () => {
    const clz = runOf({ parameters: ["i64"], results: ["i64"] }, (code) => {
      pushAll(code);
      code.op("i64.clz");
    });
    const eqz = runOf({ parameters: ["i32"], results: ["i32"] }, (code) => {
      pushAll(code);
      code.op("i32.eqz");
    });
    for (const value of WHOLE) {
      expect(BigInt(clz(value))).toBe(leadingZeros(unsigned(64, value)));
      expect(eqz(Number(signed(32, value)))).toBe(Number(signed(32, value) === 0n));
    }
  });

  test("bits of vectors: lanes, shifts, selection", () => {
    const [x, y] = [0x8000_0000_0000_0001n, 0x0123_4567_89ab_cdefn];
    const lanes = (lane: 0 | 1, emit: (code: Code, a: () => void, b: () => void) => void) => {
      const run = runOf({ parameters: ["i64", "i64"], results: ["i64"] }, (code) => {
        const [a, b] = code.locals.parameters;
        const push = () => code.get(a!).op("i64x2.splat").get(b!).replaceLane("i64", 1);
        emit(code, push, () => code.get(b!).op("i64x2.splat"));
        code.extractLane("i64", lane);
      });
      return BigInt.asUintN(64, BigInt(run(x, y)));
    };
    const unary = (lane: 0 | 1, emit: Emit) =>
      lanes(lane, (code, a) => {
        a();
        emit(code);
      });
    expect([unary(0, () => {}), unary(1, () => {})]).toEqual([x, y]);
    expect(unary(0, (code) => code.i32(4).op("i64x2.shl"))).toBe(0x10n);
    expect(unary(0, (code) => code.i32(4).op("i64x2.shr_u"))).toBe(0x0800_0000_0000_0000n);
    expect(unary(0, (code) => code.i32(4).op("i32x4.shl"))).toBe(0x10n);
    expect(unary(1, (code) => code.i32(4).op("i32x4.shr_u"))).toBe(0x0012_3456_089a_bcden);
    expect(unary(1, (code) => code.v128(0x1_ffff_ffffn).op("i32x4.add"))).toBe(0x0123_4568_89ab_cdeen);
    expect(unary(1, (code) => code.op("i64x2.extend_low_i32x4_u"))).toBe(0x8000_0000n);
    expect(unary(0, (code) => code.op("i64x2.extend_high_i32x4_u"))).toBe(0x89ab_cdefn);
    expect(unary(1, (code) => code.v128(1n, 2n).op("i64x2.add"))).toBe(y + 2n);
    expect(unary(1, (code) => code.v128(0xffff_0000n).op("v128.andnot"))).toBe(y & ~0xffff_0000n);
    expect(unary(1, (code) => code.v128(-1n).op("v128.xor"))).toBe(BigInt.asUintN(64, ~y));
  });

  test("multiply-adds agree with two roundings or with one", () => {
    const run = (name: PlainName) =>
      runOf({ parameters: ["f64", "f64", "f64"], results: ["f64"] }, (code) => {
        for (const parameter of code.locals.parameters) code.get(parameter).op("f64x2.splat");
        code.op(name).extractLane("f64", 0);
      });
    expect(run("f64x2.relaxed_madd")(3, 5, 7)).toBe(22);
    expect(run("f64x2.relaxed_nmadd")(3, 5, 7)).toBe(-8);
  });
});

describe("memory", () => {
  const stores: readonly [MemoryName, MemoryName, WasmType, number | bigint][] = [
    ["i32.store", "i32.load", "i32", -123_456],
    ["i64.store", "i64.load", "i64", -(2n ** 50n)],
    ["f64.store", "f64.load", "f64", -0.1],
  ];

  test.each(stores)("%s and %s at an offset", (store, load, type, value) => {
    const { run, bytes } = start(
      moduleOf({ parameters: ["i32", type], results: [type] }, (code) => {
        const [address] = code.locals.parameters;
        pushAll(code);
        code.memory(store, 1000).get(address!).memory(load, 1000);
      }),
    );
    expect(run(24, value)).toBe(value);
    expect(bytes.subarray(0, 1024).every((byte) => byte === 0)).toBe(true);
    expect(bytes.subarray(1024, 1032).some((byte) => byte !== 0)).toBe(true);
  });

  test("a byte, whatever stands above it", () => {
    const { run, bytes } = start(
      moduleOf({ parameters: ["i32"], results: [] }, (code) => {
        code.i32(8).get(code.locals.parameters[0]!).memory("i32.store8", 3);
      }),
    );
    run(0x1234);
    expect([...bytes.subarray(10, 13)]).toEqual([0, 0x34, 0]);
  });

  test("vectors, and a double for both lanes", () => {
    const { run, bytes } = start(
      moduleOf({ parameters: ["f64"], results: ["f64"] }, (code) => {
        code.i32(8).get(code.locals.parameters[0]!).memory("f64.store");
        code.i32(0).i32(8).memory("v128.load64_splat").memory("v128.store", 32);
        code.i32(16).memory("v128.load", 16).extractLane("f64", 1);
      }),
    );
    expect(run(2.5)).toBe(2.5);
    expect([...new Float64Array(bytes.buffer, 32, 2)]).toEqual([2.5, 2.5]);
  });

  test("fill and copy", () => {
    const { run, bytes } = start(
      moduleOf({}, (code) => {
        code.i32(100).i32(7).i32(5).memoryFill();
        code.i32(200).i32(100).i32(3).memoryCopy();
      }),
    );
    run();
    expect([...bytes.subarray(99, 106)]).toEqual([0, 7, 7, 7, 7, 7, 0]);
    expect([...bytes.subarray(199, 204)]).toEqual([0, 7, 7, 7, 0]);
  });

  test("every instruction of the list is used above", () => {
    const others = ["i32.store8", "v128.load", "v128.load64_splat", "v128.store"];
    const used = new Set([...others, ...stores.flat().map(String)]);
    expect(Object.keys(MEMORY).filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("code", () => {
  test("constants keep their bits", () => {
    expect(runOf({ results: ["i32"] }, (code) => code.i32(2 ** 32 - 8))()).toBe(-8);
    expect(runOf({ results: ["i64"] }, (code) => code.i64(2n ** 64n - 1n))()).toBe(-1n);
    expect(runOf({ results: ["f64"] }, (code) => code.f64(-0))()).toBe(-0);
    const lane = runOf({ results: ["i64"] }, (code) =>
      code.v128(0xfff8_0000_0000_0001n).extractLane("i64", 1),
    );
    expect(BigInt.asUintN(64, BigInt(lane()))).toBe(0xfff8_0000_0000_0001n);
  });

  test("loops in loops, and leaving both at once", () => {
    const run = runOf({ parameters: ["i32"], results: ["i32"] }, (code) => {
      const n = code.locals.parameters[0]!;
      const [i, j, count] = [code.locals.add("i32"), code.locals.add("i32"), code.locals.add("i32")];
      code.block((leave) => {
        code.loop((outer) => {
          code.i32(0).set(j);
          code.loop((inner) => {
            code.get(count).i32(1).op("i32.add").tee(count).i32(100).op("i32.ge_u").branchIf(leave);
            code.get(j).i32(1).op("i32.add").tee(j).get(n).op("i32.lt_u").branchIf(inner);
          });
          code.get(i).i32(1).op("i32.add").tee(i).get(n).op("i32.lt_u").branchIf(outer);
        });
      });
      code.get(count);
    });
    expect([run(1), run(3), run(50)]).toEqual([1, 9, 100]);
  });

  test("if and else, and code that was emitted apart", () => {
    const run = runOf({ parameters: ["i32"], results: ["i32"] }, (code) => {
      const result = code.locals.add("i32");
      code.get(code.locals.parameters[0]!);
      code.if(
        () => code.i32(1).set(result),
        () => code.i32(2).set(result),
      );
      code.block((leave) => {
        code.branch(leave);
        code.op("unreachable");
      });
      code.get(result);
    });
    expect([run(5), run(0)]).toEqual([1, 2]);
  });

  test("a branch to what is closed is a bug of ours", () => {
    moduleOf({}, (code) => {
      let closed: Label | undefined;
      code.block((label) => {
        closed = label;
      });
      expect(() => code.branch(closed!)).toThrow(InternalError);
    });
  });
});

describe("modules", () => {
  test("hold any number of functions, types, locals and instructions", () => {
    const module = new ModuleBuilder();
    const twice = module.importFunction("twice", { parameters: ["f64"], results: ["f64"] });
    let last = twice;
    for (let i = 0; i < 200; i++) {
      const parameters: WasmType[] = i % 2 === 0 ? ["f64"] : ["f64", "i32"];
      const before = last;
      const needsNumber = i > 0 && i % 2 === 0;
      last = module.function({ parameters, results: ["f64"] }, (code) => {
        const kept = Array.from({ length: 150 }, (_, k) => code.locals.add(k % 3 === 0 ? "f64" : "v128"));
        code.get(code.locals.parameters[0]!).set(kept[0]!);
        for (let k = 0; k < 100; k++) code.get(kept[0]!).f64(0).op("f64.add").set(kept[0]!);
        code.get(kept[0]!);
        if (needsNumber) code.i32(1);
        code.call(before).f64(1).op("f64.add");
      });
    }
    const name = "nächste";
    module.export(name, last);
    const binary = module.build(1);
    expect(WebAssembly.validate(binary)).toBe(true);
    const host = {
      memory: new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }),
      scratch: new WebAssembly.Global({ value: "i32" }, 0),
      twice: (x: number) => 2 * x,
    };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary), { host });
    expect((exports[name] as (x: number, n: number) => number)(10, 0)).toBe(220);
  });

  test("know the scratch space of their executor", () => {
    expect(runOf({ results: ["i32"] }, (code) => code.getGlobal(SCRATCH_GLOBAL))()).toBe(4096);
  });

  test("take a memory of their size only", () => {
    const module = new ModuleBuilder();
    const binary = module.build(3);
    const start = (pages: number) => {
      const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
      const scratch = new WebAssembly.Global({ value: "i32" }, 0);
      return new WebAssembly.Instance(new WebAssembly.Module(binary), { host: { memory, scratch } });
    };
    expect(start(3).exports).toEqual({});
    expect(() => start(2)).toThrow();
    expect(() => start(4)).toThrow();
  });
});
