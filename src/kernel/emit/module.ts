import { Bytes } from "./bytes.ts";
import { Code, Locals } from "./code.ts";
import { VALUE_TYPES, type WasmType } from "./instructions.ts";

export interface Signature {
  readonly parameters: readonly WasmType[];
  readonly results: readonly WasmType[];
}

/** The signature of a function of `count` numbers, mostly addresses, that returns nothing. */
export function takes(count: number): Signature {
  return { parameters: new Array<"i32">(count).fill("i32"), results: [] };
}

/**
 * Assembles a WebAssembly module: imported functions first, then its own, over one imported shared memory and one
 * imported immutable i32 global. Source: WebAssembly Core Specification 3.0, binary format; threads proposal for shared
 * memory.
 */
export class ModuleBuilder {
  readonly #types: string[] = [];
  readonly #typeBytes = new Bytes();
  readonly #imports: { name: string; type: number }[] = [];
  readonly #functions: { type: number; code: Code | null }[] = [];
  readonly #exports: { name: string; index: number }[] = [];

  /** Declares the host function `host.name`; all imports come before the first own function. Returns its index. */
  importFunction(name: string, signature: Signature): number {
    return this.#imports.push({ name, type: this.#typeOf(signature) }) - 1;
  }

  /** Adds a function; the callback emits its code. Returns its index. */
  function(signature: Signature, emit: (code: Code) => void): number {
    const entry = { type: this.#typeOf(signature), code: null as Code | null };
    const index = this.#imports.length + this.#functions.push(entry) - 1;
    const code = new Code(new Locals(signature.parameters));
    emit(code);
    entry.code = code;
    return index;
  }

  export(name: string, index: number): void {
    this.#exports.push({ name, index });
  }

  /** @param memoryPages size of the imported memory in pages of 64 KiB */
  build(memoryPages: number): Uint8Array<ArrayBuffer> {
    const module = new Bytes();
    module.append([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    section(module, 1, this.#types.length, (bytes) => bytes.append(this.#typeBytes.view()));
    section(module, 2, this.#imports.length + 2, (bytes) => this.#encodeImports(bytes, memoryPages));
    section(module, 3, this.#functions.length, (bytes) => {
      for (const { type } of this.#functions) bytes.unsigned(type);
    });
    section(module, 7, this.#exports.length, (bytes) => {
      for (const { name, index } of this.#exports) {
        bytes.counted(utf8(name));
        bytes.byte(0);
        bytes.unsigned(index);
      }
    });
    section(module, 10, this.#functions.length, (bytes) => {
      const locals = new Bytes();
      for (const { code } of this.#functions) encodeBody(bytes, code as Code, locals);
    });
    return module.view();
  }

  #encodeImports(bytes: Bytes, memoryPages: number): void {
    const add = (name: string, ...kind: readonly number[]) => {
      bytes.counted(utf8("host"));
      bytes.counted(utf8(name));
      bytes.append(kind);
    };
    for (const { name, type } of this.#imports) {
      add(name, 0);
      bytes.unsigned(type);
    }
    add("memory", 2, 3); // with a maximum, shared
    bytes.unsigned(memoryPages);
    bytes.unsigned(memoryPages);
    add("scratch", 3, VALUE_TYPES.i32, 0);
  }

  #typeOf({ parameters, results }: Signature): number {
    const key = `${parameters.join()}:${results.join()}`;
    const known = this.#types.indexOf(key);
    if (known >= 0) return known;
    this.#typeBytes.byte(0x60);
    for (const types of [parameters, results]) {
      this.#typeBytes.unsigned(types.length);
      for (const type of types) this.#typeBytes.byte(VALUE_TYPES[type]);
    }
    return this.#types.push(key) - 1;
  }
}

/** Index of the imported global with the address of the executor's scratch space. */
export const SCRATCH_GLOBAL = 0;

function section(module: Bytes, id: number, count: number, encode: (bytes: Bytes) => void): void {
  const bytes = new Bytes();
  bytes.unsigned(count);
  encode(bytes);
  module.byte(id);
  module.counted(bytes.view());
}

function encodeBody(bytes: Bytes, code: Code, locals: Bytes): void {
  locals.clear();
  code.locals.encode(locals);
  bytes.unsigned(locals.length + code.bytes.length + 1);
  bytes.append(locals.view());
  bytes.append(code.bytes.view());
  bytes.byte(0x0b);
}

/** In pooled memory: memory of its own for each name makes V8 collect garbage. */
function utf8(text: string): Uint8Array {
  return Buffer.from(text);
}
