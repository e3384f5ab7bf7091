/** Local date and time of day in a time zone. */
export interface WallTime {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly minuteOfDay: number;
}

/** Converts ms since 1970 to the local time of a time zone. */
export function wallClock(timezone: string): (ms: number) => WallTime {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return {
      day: `${parts["year"]}-${parts["month"]}-${parts["day"]}`,
      minuteOfDay: Number(parts["hour"]) * 60 + Number(parts["minute"]),
    };
  };
}
