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

  op = (name: PlainName) => this.#opcode(PLAIN[name]);
  get = (local: Local) => this.#indexed(0x20, local.index);
  set = (local: Local) => this.#indexed(0x21, local.index);
  tee = (local: Local) => this.#indexed(0x22, local.index);
  getGlobal = (index: number) => this.#indexed(0x23, index);
  call = (functionIndex: number) => this.#indexed(0x10, functionIndex);
  branch = (label: Label) => this.#indexed(0x0c, this.#distance(label));
  branchIf = (label: Label) => this.#indexed(0x0d, this.#distance(label));
  block = (body: (leave: Label) => void) => this.#structure(0x02, body);
  loop = (body: (again: Label) => void) => this.#structure(0x03, body);
  /** Runs the body if the i32 on the stack is not 0. */
  if = (body: (leave: Label) => void, otherwise?: () => void) => this.#structure(0x04, body, otherwise);
  /** Copies: destination, source, and number of bytes are on the stack. */
  memoryCopy = () => this.#append([0xfc, 10, 0, 0]);
  /** Fills: destination, byte value, and number of bytes are on the stack. */
  memoryFill = () => this.#append([0xfc, 11, 0]);
  /** Appends separately emitted instructions, which must not branch out. */
  insert = (code: Code) => this.#append(code.bytes.view());

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
    const patterns = [first, second].map((pattern) => BigInt.asUintN(64, pattern));
    return this.#opcode(0x10c).#append(new Uint8Array(BigUint64Array.from(patterns).buffer));
  }

  /** A load or store at the address on the stack plus `offset`. */
  memory(name: MemoryName, offset = 0): this {
    const [code, alignment] = MEMORY[name];
    this.#opcode(code);
    this.bytes.unsigned(alignment);
    this.bytes.unsigned(offset);
    return this;
  }

  extractLane(type: "i64" | "f64", lane: 0 | 1): this {
    return this.#opcode(type === "i64" ? 0x11d : 0x121).#append([lane]);
  }

  replaceLane(type: "i64" | "f64", lane: 0 | 1): this {
    return this.#opcode(type === "i64" ? 0x11e : 0x122).#append([lane]);
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

  #indexed(opcode: number, index: number): this {
    this.bytes.byte(opcode);
    this.bytes.unsigned(index);
    return this;
  }

  #append(bytes: ArrayLike<number>): this {
    this.bytes.append(bytes);
    return this;
  }

  #opcode(code: number): this {
    if (code < 0x100) this.bytes.byte(code);
    else if (code >= 0x1000) {
      this.bytes.byte(0xfc);
      this.bytes.unsigned(code - 0x1000);
    } else {
      this.bytes.byte(0xfd);
      this.bytes.unsigned(code - 0x100);
    }
    return this;
  }
}

/** Target of a branch: the end of a block or the start of a loop. */
export interface Label {
  readonly depth: number;
}
