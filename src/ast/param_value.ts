export type ParamValue = number | string | boolean;
