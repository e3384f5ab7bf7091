import type { AnyWindowState } from "../../operator/window_code.ts";
import { count } from "./count.ts";
import { keys } from "./keys.ts";
import { level } from "./levels.ts";
import { linear } from "./linear.ts";
import { positions } from "./positions.ts";
import { quadratic } from "./quadratic.ts";
import { runLength } from "./run_length.ts";
import { sorted } from "./sorted.ts";

/** The states of the built-in operators. Operators of users bring their own. */
export const WINDOW_STATES: readonly AnyWindowState[] = [
  count,
  keys,
  level,
  linear,
  positions,
  quadratic,
  runLength,
  sorted,
];
