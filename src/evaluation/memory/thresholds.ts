import { UsageError } from "../../errors.ts";
import { type ArgumentKind, shownValue } from "../../text/argument_kinds.ts";
import { checkedOptions, type OptionKinds } from "../../text/option_kinds.ts";

/**
 * Shares of an engine's memory limit at which it acts; 0 switches one off. Default: that of the environment
 * (`FACTORLOOM_MEMORY_TARGET`, `_SPILL`, `_PAUSE`, `_REFUSE`), else the one given below. What the process takes is its
 * resident size less what Node, code and idle threads take: 300 MiB, and 13 MiB for each thread beyond two.
 */
export interface MemoryThresholds {
  /** Of what the engine manages: results that wait to be read and would take it above that go to disk. Default 0.6. */
  readonly target?: number | undefined;
  /**
   * Of what the process takes: above it, further results that wait go to disk, and what closed plans still hold is given
   * back; that also where the need of a call would take the process above the limit. Default 0.7.
   */
  readonly spill?: number | undefined;
  /** Of what the process takes: above it, blocks of one call at a time begin. Default 0.8. */
  readonly pause?: number | undefined;
  /**
   * Of what the process takes: above it no call begins and no session is opened, nor where their need would take the
   * process above the limit. Calls wait for others to end, then they are refused (E401). Rows of open sessions are never
   * refused for it. Default 0: what the engine manages decides alone.
   */
  readonly refuse?: number | undefined;
}

export type MemoryShares = { readonly [Name in keyof MemoryThresholds]-?: number };

const SHARE: ArgumentKind = {
  what: "a share of the memory limit",
  fits: (given) => typeof given === "number" && given >= 0 && given < Number.POSITIVE_INFINITY,
  remedy: "give a share of the memory limit, e.g. 0.8, or 0 for none",
  refuse: (name, given) => shareWrong(`memoryThresholds.${name}`, shownValue(given)),
};

export const THRESHOLD_OPTIONS: OptionKinds<MemoryThresholds> = {
  target: SHARE,
  spill: SHARE,
  pause: SHARE,
  refuse: SHARE,
};

const DEFAULTS: MemoryShares = { target: 0.6, spill: 0.7, pause: 0.8, refuse: 0 };

/** What is given, else what the environment says, else the defaults. @throws UsageError E527, E528. */
export function memoryShares(
  given: MemoryThresholds = {},
  environment: NodeJS.ProcessEnv = process.env,
): MemoryShares {
  const chosen = checkedOptions("memoryThresholds", given, THRESHOLD_OPTIONS);
  const shareOf = (name: keyof MemoryThresholds) => {
    const variable = `FACTORLOOM_MEMORY_${name.toUpperCase()}`;
    const text = chosen[name] === undefined ? environment[variable]?.trim() : undefined;
    const share = text ? Number(text) : (chosen[name] ?? DEFAULTS[name]);
    if (!SHARE.fits(share)) throw shareWrong(variable, text!);
    return share;
  };
  return {
    target: shareOf("target"),
    spill: shareOf("spill"),
    pause: shareOf("pause"),
    refuse: shareOf("refuse"),
  };
}

function shareWrong(name: string, text: string): UsageError {
  return new UsageError("E528", `${name} is ${text}`, SHARE.remedy);
}
