/** Cron expressions of five fields, and the times that they name in a time zone. Runs anywhere. */

export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  /** From 1. */
  readonly months: readonly number[];
  /** From 0, Sunday. */
  readonly weekdays: readonly number[];
  /** Both days of the month and of the week are restricted: a day counts that is in either of them. */
  readonly eitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MINUTE: Field = { name: 'minute', min: 0, max: 59 };
const HOUR: Field = { name: 'hour', min: 0, max: 23 };
const DAY: Field = { name: 'day of month', min: 1, max: 31 };
const MONTH: Field = {
  name: 'month',
  min: 1,
  max: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
};
/** 7 is Sunday, too. */
const WEEKDAY: Field = {
  name: 'day of week',
  min: 0,
  max: 7,
  names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
};

/** Longer texts are no expressions that a person has written. */
const MAX_CRON_CHARS = 200;

/** The parsed expression, or the reason why it is none. Never throws. */
export function parseCron(text: string): Cron | string {
  const fields = text.length > MAX_CRON_CHARS ? [] : text.trim().split(/\s+/);
  if (fields.length !== 5)
    return 'must have five fields: minute, hour, day of month, month, day of week';
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const minutes = valuesOf(MINUTE, minute);
  if (typeof minutes === 'string') return minutes;
  const hours = valuesOf(HOUR, hour);
  if (typeof hours === 'string') return hours;
  const days = valuesOf(DAY, day);
  if (typeof days === 'string') return days;
  const months = valuesOf(MONTH, month);
  if (typeof months === 'string') return months;
  const weekdays = valuesOf(WEEKDAY, weekday);
  if (typeof weekdays === 'string') return weekdays;
  return {
    minutes,
    hours,
    days,
    months,
    weekdays: [...new Set(weekdays.map((value) => value % 7))].sort((one, other) => one - other),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  };
}

/** The values of a field, in order, or the reason why it has none. */
function valuesOf(field: Field, text: string): readonly number[] | string {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const range = rangeOf(field, part);
    if (typeof range === 'string') return range;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
}

function rangeOf(field: Field, part: string): { from: number; to: number; step: number } | string {
  const { name, min, max } = field;
  const wrong = `has "${part}" as ${name}: it must be "*", a number from ${min} to ${max}, a range or a list of them, each with a step such as "/5" if desired`;
  const parts = /^(\*|\w+)(?:-(\w+))?(?:\/(\d{1,4}))?$/.exec(part);
  if (parts === null) return wrong;
  const [, first = '', last, stepText] = parts;
  const step = stepText === undefined ? 1 : Number(stepText);
  if (first === '*')
    // A day of the week is counted once, as 0.
    return last === undefined && step > 0
      ? { from: min, to: Math.min(max, endOf(field)), step }
      : wrong;
  const from = numberOf(field, first);
  const upTo = last === undefined ? undefined : numberOf(field, last);
  const to = upTo ?? (stepText === undefined ? from : endOf(field));
  const isValid =
    from !== undefined &&
    to !== undefined &&
    from <= to &&
    step > 0 &&
    !(last !== undefined && upTo === undefined);
  return isValid ? { from, to, step } : wrong;
}

function endOf(field: Field): number {
  return field === WEEKDAY ? 6 : field.max;
}

function numberOf({ min, max, names = [] }: Field, text: string): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + (min === 1 ? 1 : 0);
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 100;

/** Whether the host knows the time zone, an IANA name such as `Europe/Berlin`. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** @throws {RangeError} for an unknown zone */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(timeZone, format);
  return format;
}

function localTimeOf(atMs: number, timeZone: string): LocalTime {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
  };
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Days that are searched: the next 29 February on a given day of the week is within 40 years. */
const SEARCHED_DAYS = 41 * 366;

/**
 * The first time after `afterMs` that the expression names, in milliseconds; undefined when there is none. A time that
 * the clocks skip does not come, one that they repeat comes twice, as on Temporal's schedules.
 */
export function nextCronTime(cron: Cron, timeZone: string, afterMs: number): number | undefined {
  const [next] = cronTimes(cron, timeZone, afterMs);
  return next;
}

/** The times after `afterMs` that the expression names, in order. */
export function* cronTimes(
  cron: Cron,
  timeZone: string,
  afterMs: number,
): Generator<number, void, undefined> {
  const { year, month, day } = localTimeOf(afterMs, timeZone);
  // Days are counted in UTC, which has no clock changes; only their date is used.
  const first = Date.UTC(year, month - 1, day);
  for (let ahead = 0; ahead < SEARCHED_DAYS; ahead += 1) {
    const date = new Date(first + ahead * DAY_MS);
    if (!isDay(cron, date)) continue;
    for (const time of timesOfDay(cron, date, timeZone)) if (time > afterMs) yield time;
  }
}

function isDay({ days, months, weekdays, eitherDay }: Cron, date: Date): boolean {
  if (!months.includes(date.getUTCMonth() + 1)) return false;
  const byDay = days.includes(date.getUTCDate());
  const byWeekday = weekdays.includes(date.getUTCDay());
  return eitherDay ? byDay || byWeekday : byDay && byWeekday;
}

/** The instants of the day, in order. */
function timesOfDay({ hours, minutes }: Cron, date: Date, timeZone: string): readonly number[] {
  const offsets = offsetsAround(date.getTime(), timeZone);
  const [offset = 0, ...others] = offsets;
  if (others.length === 0)
    return hours.flatMap((hour) =>
      minutes.map((minute) => date.getTime() + (hour * 60 + minute) * MINUTE_MS - offset),
    );
  const times = new Set<number>();
  for (const hour of hours)
    for (const minute of minutes) {
      const local = date.getTime() + (hour * 60 + minute) * MINUTE_MS;
      for (const offset of offsets) {
        const instant = local - offset;
        if (offsetAt(instant, timeZone) === offset) times.add(instant);
      }
    }
  return [...times].sort((one, other) => one - other);
}

/** The differences to UTC that the zone has within a day before and after: one, or two around a change of the clocks. */
function offsetsAround(localMs: number, timeZone: string): readonly number[] {
  const around = [-1, 0, 1, 2].map((days) => offsetAt(localMs + days * DAY_MS, timeZone));
  return [...new Set(around)];
}

function offsetAt(atMs: number, timeZone: string): number {
  const { year, month, day, hour, minute } = localTimeOf(atMs, timeZone);
  const wholeMinutes = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  return Date.UTC(year, month - 1, day, hour, minute) - wholeMinutes;
}
