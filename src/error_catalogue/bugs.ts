import type { ErrorEntry } from "./entry.ts";

/** Bugs in factorloom. */
export const BUGS: readonly ErrorEntry[] = [
  {
    code: "E900",
    class: "internal",
    title: "A bug in factorloom",
    happened: "An invariant of the program does not hold.",
    toDo: "Please report it with the formula and the data.",
    example: {
      situation: "none is known",
      notRun: "what produces one is fixed",
    },
  },
];
