import { sidePage } from "../shell/side.client.ts";
import { factorView } from "./factor_view.client.ts";
import { overview } from "./overview.client.ts";
import { timeView } from "./time_view.client.ts";
import { coverageOf, data } from "./words.client.ts";

/** Pictures are as wide as there is room, up to a width at which times can still be distinguished. */
const PICTURE_MAX = 2400;
/** Beside each other from this width on, as in the style. */
const PAIR_MIN = 1180;

const roomOf = (main: HTMLElement): number => main.clientWidth - 76;

sidePage({
  factors: data.factors.map((factor) => ({
    name: factor.name,
    note: coverageOf(factor),
    formula: factor.formula,
  })),
  views: [
    ["", "Overview"],
    ["time", "Time"],
  ],
  show: (view, main) => {
    const width = Math.min(PICTURE_MAX, roomOf(main));
    return view === "time" ? timeView(width) : overview(width);
  },
  showFactor: (factor, main) => {
    const isPair = innerWidth >= PAIR_MIN;
    return factorView(factor, Math.min(PICTURE_MAX, isPair ? roomOf(main) / 2 - 18 : roomOf(main)));
  },
});
