/** The value of a call parameter. */
export type ParamValue = number | string | boolean;
