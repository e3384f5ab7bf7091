import { isSeriesLike, type KernelOperator } from "./definition.ts";

/**
 * True if today's value of the operator is certainly null where some of its series arguments are null today. Their
 * values on other rows do not matter.
 *
 * @param areNull for each series argument, in the order of the parameters, whether it is null today
 * @param isSparse true for a call with `min_periods`, whose windows leave rows out
 */
export function nullForNulls(
  operator: KernelOperator,
  areNull: readonly boolean[],
  isSparse: boolean,
): boolean {
  switch (operator.axis) {
    case "elementwise":
    case "rolling": {
      if (isSparse) return false;
      if (operator.seesNulls !== true) return areNull.includes(true);
      const { nullFor = [] } = operator;
      const series = operator.parameters.filter(({ kind }) => isSeriesLike(kind));
      return series.some(({ name }, index) => areNull[index] === true && nullFor.includes(name));
    }
    case "cross_section":
    case "group":
      return areNull.includes(true);
    case "recursive":
      return false;
  }
}
