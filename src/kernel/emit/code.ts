import { InternalError } from "../../errors.ts";
import { Bytes } from "./bytes.ts";
import {
  MEMORY,
  type MemoryName,
  PLAIN,
  type PlainName,
  VALUE_TYPES,
  type WasmType,
} from "./instructions.ts";

export interface Local {
  readonly index: number;
  readonly type: WasmType;
}

/** The locals of one function, parameters first. */
export class Locals {
  readonly parameters: readonly Local[];
  readonly #types: WasmType[] = [];

  constructor(parameterTypes: readonly WasmType[]) {
    this.parameters = parameterTypes.map((type, index) => ({ index, type }));
  }

  add(type: WasmType): Local {
    return { index: this.parameters.length + this.#types.push(type) - 1, type };
  }

  /** The declaration before a function's code: runs of equal types. */
  encode(bytes: Bytes): void {
    const runs: { type: WasmType; count: number }[] = [];
    for (const type of this.#types) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    bytes.unsigned(runs.length);
    for (const { type, count } of runs) {
      bytes.unsigned(count);
      bytes.byte(VALUE_TYPES[type]);
    }
  }
}

/** Instructions of a function, appended in order. Structures (`block`, `loop`, `if`) are closed by their callback. */
export class Code {
  readonly locals: Locals;
  readonly bytes = new Bytes();
  #depth = 0;

  constructor(locals: Locals) {
    this.locals = locals;
  }

  op(name: PlainName): this {
    const code = PLAIN[name];
    this.#opcode(code);
    return this;
  }

  get(local: Local): this {
    this.bytes.byte(0x20);
    this.bytes.unsigned(local.index);
    return this;
  }

  set(local: Local): this {
    this.bytes.byte(0x21);
    this.bytes.unsigned(local.index);
    return this;
  }

  tee(local: Local): this {
    this.bytes.byte(0x22);
    this.bytes.unsigned(local.index);
    return this;
  }

  getGlobal(index: number): this {
    this.bytes.byte(0x23);
    this.bytes.unsigned(index);
    return this;
  }

  /** A constant; numbers above 2^31 are addresses and wrap. */
  i32(value: number): this {
    this.bytes.byte(0x41);
    this.bytes.signed(value | 0);
    return this;
  }

  i64(value: bigint): this {
    this.bytes.byte(0x42);
    this.bytes.signed64(BigInt.asIntN(64, value));
    return this;
  }

  f64(value: number): this {
    this.bytes.byte(0x44);
    this.bytes.double(value);
    return this;
  }

  /** Each half holds these 64 bits. */
  v128(first: bigint, second = first): this {
    this.#opcode(0x10c);
    const patterns = [first, second].map((pattern) => BigInt.asUintN(64, pattern));
    this.bytes.append(new Uint8Array(BigUint64Array.from(patterns).buffer));
    return this;
  }

  /** A load or store at the address on the stack plus `offset`. */
  memory(name: MemoryName, offset = 0): this {
    const [code, alignment] = MEMORY[name];
    this.#opcode(code);
    this.bytes.unsigned(alignment);
    this.bytes.unsigned(offset);
    return this;
  }

  /** Copies: destination, source, and number of bytes are on the stack. */
  memoryCopy(): this {
    this.bytes.append([0xfc, 10, 0, 0]);
    return this;
  }

  /** Fills: destination, byte value, and number of bytes are on the stack. */
  memoryFill(): this {
    this.bytes.append([0xfc, 11, 0]);
    return this;
  }

  extractLane(type: "i64" | "f64", lane: 0 | 1): this {
    this.#opcode(type === "i64" ? 0x11d : 0x121);
    this.bytes.byte(lane);
    return this;
  }

  replaceLane(type: "i64" | "f64", lane: 0 | 1): this {
    this.#opcode(type === "i64" ? 0x11e : 0x122);
    this.bytes.byte(lane);
    return this;
  }

  call(functionIndex: number): this {
    this.bytes.byte(0x10);
    this.bytes.unsigned(functionIndex);
    return this;
  }

  block(body: (leave: Label) => void): this {
    return this.#structure(0x02, body);
  }

  loop(body: (again: Label) => void): this {
    return this.#structure(0x03, body);
  }

  /** Runs the body if the i32 on the stack is not 0. */
  if(body: (leave: Label) => void, otherwise?: () => void): this {
    return this.#structure(0x04, body, otherwise);
  }

  branch(label: Label): this {
    this.bytes.byte(0x0c);
    this.bytes.unsigned(this.#distance(label));
    return this;
  }

  branchIf(label: Label): this {
    this.bytes.byte(0x0d);
    this.bytes.unsigned(this.#distance(label));
    return this;
  }

  /** Appends separately emitted instructions, which must not branch out. */
  insert(code: Code): this {
    this.bytes.append(code.bytes.view());
    return this;
  }

  #structure(opcode: number, body: (label: Label) => void, otherwise?: () => void): this {
    this.bytes.byte(opcode);
    this.bytes.byte(0x40);
    this.#depth++;
    body({ depth: this.#depth });
    if (otherwise) {
      this.bytes.byte(0x05);
      otherwise();
    }
    this.#depth--;
    this.bytes.byte(0x0b);
    return this;
  }

  #distance({ depth }: Label): number {
    if (depth > this.#depth) throw new InternalError("a branch to a closed structure");
    return this.#depth - depth;
  }

  #opcode(code: number): void {
    if (code < 0x100) this.bytes.byte(code);
    else if (code >= 0x1000) {
      this.bytes.byte(0xfc);
      this.bytes.unsigned(code - 0x1000);
    } else {
      this.bytes.byte(0xfd);
      this.bytes.unsigned(code - 0x100);
    }
  }
}

/** Target of a branch: the end of a block or the start of a loop. */
export interface Label {
  readonly depth: number;
}
