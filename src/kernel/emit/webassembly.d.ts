/** The used part of the WebAssembly JavaScript interface; TypeScript ships it with the DOM only. */
declare namespace WebAssembly {
  type Exports = Readonly<Record<string, unknown>>;

  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }

  class Instance {
    readonly exports: Exports;
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
  }

  class Memory {
    readonly buffer: SharedArrayBuffer;
    constructor(descriptor: { readonly initial: number; readonly maximum: number; readonly shared: true });
  }

  class Global {
    constructor(descriptor: { readonly value: "i32" }, value: number);
  }

  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
  function validate(bytes: Uint8Array<ArrayBuffer>): boolean;
}
