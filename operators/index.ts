import { Registry } from "../src/operator/registry.ts";
import { loadOperators } from "./files.ts";

/** The registry of all built-in operators. */
export const builtInRegistry = new Registry(loadOperators());
