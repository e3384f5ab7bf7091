import type { Arithmetic } from "../../src/elementary/arithmetic.ts";
import { exp } from "../../src/elementary/exp.ts";
import { log } from "../../src/elementary/log.ts";
import { log1p } from "../../src/elementary/log1p.ts";
import { power } from "../../src/elementary/power.ts";
import { tanh } from "../../src/elementary/tanh.ts";
import { exactExp, exactLog, exactLog1p, exactPower, exactTanh, type Real } from "./oracle.ts";

/** A function under test, its exact values, and what its documentation states. */
export interface Tested {
  readonly name: string;
  readonly emit: <V, M>(on: Arithmetic<V, M>, x: V, y: V) => V;
  readonly exact: (x: number, y: number) => Real;
  readonly argumentCount: number;
  /** Bound of the error of normal results. */
  readonly ulpsMax: number;
  /** Bound of the error of subnormal results, which are rounded twice unless they are exact or near their argument. */
  readonly subnormalUlpsMax: number;
}

/** The functions under test; those of one argument ignore the second. */
export const FUNCTIONS: readonly Tested[] = [
  {
    name: "exp",
    emit: exp,
    exact: exactExp,
    argumentCount: 1,
    ulpsMax: 0.6,
    subnormalUlpsMax: 0.77,
  },
  {
    name: "log",
    emit: log,
    exact: exactLog,
    argumentCount: 1,
    ulpsMax: 0.65,
    subnormalUlpsMax: 0,
  },
  {
    name: "log1p",
    emit: log1p,
    exact: exactLog1p,
    argumentCount: 1,
    ulpsMax: 0.67,
    subnormalUlpsMax: 0.5,
  },
  {
    name: "tanh",
    emit: tanh,
    exact: exactTanh,
    argumentCount: 1,
    ulpsMax: 0.82,
    subnormalUlpsMax: 0.5,
  },
  {
    name: "power",
    emit: power,
    exact: exactPower,
    argumentCount: 2,
    ulpsMax: 0.68,
    subnormalUlpsMax: 0.77,
  },
];
