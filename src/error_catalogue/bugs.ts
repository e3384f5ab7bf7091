import type { ErrorEntry } from "./entry.ts";

/** Bugs of ours. */
export const BUGS: readonly ErrorEntry[] = [
  {
    code: "E900",
    class: "internal",
    title: "A bug of factorloom",
    happened: "Something that must not happen has happened: an invariant does not hold.",
    toDo: "Please report it with the formula and the data.",
    example: {
      situation: "none is known",
      notRun: "what produces one is mended",
    },
  },
];
