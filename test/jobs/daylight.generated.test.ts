import { describe, expect, test } from "vitest";
import { RestartFinder } from "../../src/evaluation/restarts.ts";
import { Schedule } from "../../src/jobs/clock/schedule.ts";
import type { CalendarConfig, Session } from "../../src/jobs/config/config.ts";
import { Seeded } from "../support/seeded.ts";
import { cases, triesAll } from "../support/trials.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const FROM_MS = Date.UTC(2020, 0, 1);
const UNTIL_MS = Date.UTC(2031, 0, 1);
/** Days checked before a change and after it. */
const AROUND_MS = 22 * 60 * MINUTE_MS;

/** Changes of two hours, of three, of half an hour, and the usual ones. */
const SPECIAL = ["Antarctica/Troll", "Antarctica/Casey", "Australia/Lord_Howe", "America/New_York"];
const ALL = Intl.supportedValuesOf("timeZone");

const random = new Seeded();
const zones = new Set([...SPECIAL, ...cases(chosen(25), ALL)]);
const CHANGES_MAX = triesAll ? Number.POSITIVE_INFINITY : 2;

function chosen(count: number): string[] {
  return Array.from({ length: count }, () => ALL[random.below(ALL.length)]!);
}

/** Local time as `YYYY-MM-DD HH:MM`. */
function wallOf(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  return (ms) => format.format(ms);
}

const minutesOf = (wall: string): number => Number(wall.slice(11, 13)) * 60 + Number(wall.slice(14));

/** Days within which the clocks of a zone change. */
function changesOf(wall: (ms: number) => string): number[] {
  const offsetOf = (ms: number) => Date.parse(`${wall(ms).replace(" ", "T")}Z`) - ms;
  const changes: number[] = [];
  let before = offsetOf(FROM_MS);
  for (let ms = FROM_MS + DAY_MS; ms < UNTIL_MS; ms += DAY_MS) {
    const offset = offsetOf(ms);
    if (offset !== before) changes.push(ms - DAY_MS / 2);
    before = offset;
  }
  return changes;
}

/** One to three sessions in the order of the day, in most cases about the hours in which clocks change. */
function randomSessions(): Session[] {
  const lastMinute = random.below(3) === 0 ? 1_439 : 360;
  const ends = new Set<number>();
  const count = 2 * (1 + random.below(3));
  while (ends.size < count) ends.add(15 * random.below(Math.floor(lastMinute / 15) + 1));
  const sorted = [...ends].sort((a, b) => a - b);
  return Array.from({ length: count / 2 }, (_, index) => ({
    startMinute: sorted[2 * index]!,
    endMinute: sorted[2 * index + 1]!,
  }));
}

interface Trial {
  readonly zone: string;
  readonly aroundMs: number;
  readonly calendar: CalendarConfig;
  readonly everyMinutes: number;
  /** Local time at each minute of the days around. */
  readonly walls: ReadonlyMap<number, string>;
}

function* trialsOf(zone: string): Iterable<Trial> {
  const wall = wallOf(zone);
  const changes = changesOf(wall);
  // The control: no changes.
  if (changes.length === 0) changes.push(FROM_MS + DAY_MS * random.below(4_000));
  while (changes.length > CHANGES_MAX) changes.splice(random.below(changes.length), 1);
  for (const aroundMs of changes) {
    const walls = new Map<number, string>();
    for (let ms = aroundMs - AROUND_MS; ms <= aroundMs + AROUND_MS; ms += MINUTE_MS) walls.set(ms, wall(ms));
    const holidays = new Set(random.below(3) === 0 ? [wall(aroundMs).slice(0, 10)] : []);
    const calendar = { sessions: random.below(8) === 0 ? [] : randomSessions(), holidays };
    yield { zone, aroundMs, calendar, everyMinutes: [1, 5, 15][random.below(3)]!, walls };
  }
}

const nameOf = ({ zone, aroundMs, calendar, everyMinutes }: Trial): string =>
  `SEED=${random.seed} ${zone} around ${new Date(aroundMs).toISOString()}, every ${everyMinutes} minutes, ` +
  `${JSON.stringify(calendar.sessions)}, without ${[...calendar.holidays]}`;

const textOf = (ms: number): string => new Date(ms).toISOString();

function expectDueTimes(trial: Trial): number {
  const { zone, calendar, everyMinutes, walls, aroundMs } = trial;
  const { sessions, holidays } = calendar;
  const expected = [...walls].filter(([ms, wall]) => {
    const minute = minutesOf(wall);
    return (
      ms > aroundMs - AROUND_MS &&
      minute % everyMinutes === 0 &&
      !holidays.has(wall.slice(0, 10)) &&
      (sessions.length === 0 ||
        sessions.some(({ startMinute, endMinute }) => startMinute <= minute && minute <= endMinute))
    );
  });
  const cron = everyMinutes === 1 ? "* * * * *" : `*/${everyMinutes} * * * *`;
  const due = new Schedule({ cron, timezone: zone, calendar }).between(
    aroundMs - AROUND_MS,
    aroundMs + AROUND_MS,
    Number.POSITIVE_INFINITY,
  );
  expect(due.map(textOf), nameOf(trial)).toEqual(expected.map(([ms]) => textOf(ms)));
  return due.length;
}

/** A session starts with the first minute at which its start has been reached, and no later one of before. */
async function expectStarts(trial: Trial): Promise<number> {
  const { zone, walls } = trial;
  const sessions = trial.calendar.sessions.length === 0 ? randomSessions() : trial.calendar.sessions;
  let latest = 0;
  const expected = [...walls].filter(([, wall]) => {
    const passed = sessions.filter(({ startMinute }) => startMinute <= minutesOf(wall)).length;
    const reached = (10 * Date.parse(wall.slice(0, 10))) / DAY_MS + passed;
    const isNew = reached > latest;
    latest = Math.max(latest, reached);
    return isNew;
  });
  const type = { kind: "timestamp", unit: "us", timezone: "UTC" } as const;
  const time = { name: "time", type, values: new BigInt64Array(0) };
  const text = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  const restarts = {
    sessions: sessions.map(({ startMinute, endMinute }) => [text(startMinute), text(endMinute)] as const),
    timezone: zone,
  };
  const tracker = (await RestartFinder.of(time, 0, { restarts }))!;
  const times = [...walls.keys()];
  const half = random.below(times.length);
  const rows = [times.slice(0, half), times.slice(half)].flatMap((part, index) => {
    const micros = BigInt64Array.from(part, (ms) => BigInt(ms) * 1_000n);
    return tracker.starts(micros).map((row) => row + index * half);
  });
  expect(
    rows.map((row) => textOf(times[row]!)),
    nameOf(trial),
  ).toEqual(expected.map(([ms]) => textOf(ms)));
  return rows.length;
}

describe("where clocks change", () => {
  test("no due time within a session is lost or added, and each session starts once", async () => {
    const compared = { changes: 0, minutes: 0, dueTimes: 0, starts: 0, wallsTwice: 0 };
    for (const zone of zones) {
      for (const trial of trialsOf(zone)) {
        compared.changes += 1;
        compared.minutes += trial.walls.size;
        compared.wallsTwice += trial.walls.size - new Set(trial.walls.values()).size;
        compared.dueTimes += expectDueTimes(trial);
        compared.starts += await expectStarts(trial);
      }
    }
    console.info(`${zones.size} zones, SEED=${random.seed}:`, compared);
    expect(compared.changes).toBeGreaterThanOrEqual(zones.size);
    expect(compared.dueTimes).toBeGreaterThan(50 * zones.size);
    expect(compared.starts).toBeGreaterThan(3 * zones.size);
    expect(compared.wallsTwice, "minutes that the wall showed twice").toBeGreaterThan(60);
  }, 1_800_000);
});
