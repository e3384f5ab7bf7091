import { type ConditionSet, type Dag, inputsOf, type Task, WORD_BITS } from "../dag.ts";

/**
 * propagate_conditions: `a = rank(m) when p == 1`, `b = m + 1 when p == 2` -> rank is needed under {0}, add under {1},
 * and m, which both read, under {0, 1}.
 *
 * Algorithm: one sweep against the topological order. A task's set is the union of the conditions of all factors that
 * depend on it; a task that an unconditional factor depends on is always needed. Bit sets and their unions are
 * interned: the work per edge is one look-up, and equal sets are one object, however many conditions there are.
 * Hazards: the state of a task with unbounded lookback cannot be made from the rows that are kept: it may run rows late,
 * but has to run all of them (`PlanNode.catchUpRows`). Tasks must not change after this pass.
 * Misses: conditions that exclude or imply each other (`p == 1` and `p > 0`) count as independent.
 */
export function propagateConditions(dag: Dag): Dag {
  const sets = new ConditionSets(dag.conditions.length);
  const ids = new Int32Array(dag.tasks.length).fill(sets.none);
  const add = (task: number, set: number) => {
    ids[task] = sets.union(ids[task] as number, set);
  };
  for (const { task, condition } of dag.outputs) add(task, condition === null ? ALWAYS : sets.of(condition));
  for (let id = dag.tasks.length - 1; id >= 0; id--) {
    const task = dag.tasks[id] as Task;
    for (const input of inputsOf(task)) add(input, ids[id] as number);
  }
  return { ...dag, conditionSets: Array.from(ids, (id) => sets.wordsOf(id)) };
}

/** The set of a task that is always needed. */
const ALWAYS = -1;

/** Interned bit sets, known by number. */
class ConditionSets {
  readonly #words: ConditionSet[] = [];
  readonly #ids = new Map<string, number>();
  /** For each set its unions with sets of larger numbers. */
  readonly #unions: Map<number, number>[] = [];
  readonly #wordCount: number;
  readonly none: number;

  constructor(conditionCount: number) {
    this.#wordCount = Math.ceil(conditionCount / WORD_BITS);
    this.none = this.#intern(new Array<number>(this.#wordCount).fill(0));
  }

  of(condition: number): number {
    const words = new Array<number>(this.#wordCount).fill(0);
    words[Math.floor(condition / WORD_BITS)] = (1 << (condition % WORD_BITS)) >>> 0;
    return this.#intern(words);
  }

  union(a: number, b: number): number {
    if (a === b) return a;
    if (a === ALWAYS || b === ALWAYS) return ALWAYS;
    const unions = this.#unions[Math.min(a, b)] as Map<number, number>;
    const other = Math.max(a, b);
    const known = unions.get(other);
    if (known !== undefined) return known;
    const [x, y] = [this.#words[a] as ConditionSet, this.#words[b] as ConditionSet];
    const made = this.#intern(x.map((word, i) => (word | (y[i] as number)) >>> 0));
    unions.set(other, made);
    return made;
  }

  wordsOf(id: number): ConditionSet | null {
    return id === ALWAYS ? null : (this.#words[id] as ConditionSet);
  }

  #intern(words: ConditionSet): number {
    const key = words.join(" ");
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    this.#ids.set(key, this.#words.length);
    this.#unions.push(new Map());
    return this.#words.push(words) - 1;
  }
}
