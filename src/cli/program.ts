import { factorloom } from "./factorloom.ts";
import { runProgram } from "./terminal/run_program.ts";

await runProgram(factorloom());
