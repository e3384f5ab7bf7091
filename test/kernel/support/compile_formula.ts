import { builtInRegistry } from "../../../operators/index.ts";
import { compile, finalDag } from "../../../src/compile.ts";
import { formPlan } from "../../../src/plan/form.ts";
import { compileKernels } from "../at_once.ts";

/** Compiles one formula, so that V8 prints what it does with the kernels. Usage: compile_formula.ts FORMULA */
const dag = finalDag(compile(`factor = ${process.argv[2]}`));
const plan = formPlan(dag, { laneCount: 64, blockRows: 16, executorCount: 1 });
compileKernels(plan, builtInRegistry, { reference: false, executorCount: 1 });
