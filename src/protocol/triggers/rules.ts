/** The rules for triggers, and the times at which they come. Clients, workers and the test kit apply them. */
import { MAX_WAIT_MS } from '../limits/limits.js';
import {
  MAX_TRIGGER_INVOCATIONS,
  MAX_TRIGGER_TEXT_BYTES,
  MAX_TRIGGER_TITLE_CHARS,
  MIN_TRIGGER_INTERVAL_MS,
} from '../limits/service-limits.js';
import { durationMs, durationProblem } from '../values/durations.js';
import type { FieldProblem } from '../values/field-problem.js';
import { idProblem } from '../values/ids.js';
import { isRecord, utf8Bytes } from '../values/json.js';
import { textProblems } from '../values/well-formed.js';
import { cronTimes, isTimeZone, nextCronTime, parseCron } from './cron.js';
import { TRIGGER_TYPES, type TriggerSchedule, type TriggerSpec } from './triggers.js';

const FIELDS: Readonly<Record<keyof TriggerSpec, true>> = {
  ...{ id: true, title: true, goal: true, schedule: true },
  ...{ maxInvocations: true, endsAt: true, note: true },
};

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;

interface Now {
  readonly nowMs: number;
  /** Time without input after which the conversation closes by itself. */
  readonly idleCloseMs: number;
}

/** The rules that a declaration breaks. Accepts any value and never throws. */
export function triggerProblems(spec: unknown, now: Now): readonly FieldProblem[] {
  if (!isRecord(spec))
    return [{ path: '', message: 'must be an object with "title", "goal" and "schedule"' }];
  const { id, title, goal, schedule, maxInvocations, endsAt, note } = spec;
  const problems: FieldProblem[] = [...textProblems(spec)];
  const add = (path: string, message: string | undefined): void => {
    if (message !== undefined) problems.push({ path, message });
  };
  for (const name of Object.keys(spec))
    if (!Object.hasOwn(FIELDS, name)) add(`/${name}`, 'is no field of a trigger');
  if (id !== undefined) add('/id', idProblem('id', id));
  add('/title', titleProblem(title));
  add('/goal', goal === '' ? 'must not be empty' : triggerTextProblem(goal));
  if (note !== undefined) add('/note', triggerTextProblem(note));
  add('/maxInvocations', countProblem(maxInvocations, schedule));
  const endProblem = endsAt === undefined ? undefined : instantProblem(endsAt, now.nowMs);
  add('/endsAt', endProblem);
  const timing = scheduleProblem(schedule, now.nowMs);
  if (timing !== undefined) problems.push(timing);
  if (problems.length === 0)
    add('/schedule/value', comingProblem(spec as unknown as TriggerSpec, now));
  return problems;
}

/** Why a text cannot be the goal or note of a trigger; undefined when it can. */
export function triggerTextProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'must be a text';
  const bytes = utf8Bytes(text);
  if (bytes <= MAX_TRIGGER_TEXT_BYTES) return undefined;
  return `must be at most ${MAX_TRIGGER_TEXT_BYTES} bytes, got ${bytes}`;
}

function titleProblem(title: unknown): string | undefined {
  if (typeof title !== 'string' || title.trim() === '') return 'must be a non-empty text';
  if (title.length <= MAX_TRIGGER_TITLE_CHARS) return undefined;
  return `must be at most ${MAX_TRIGGER_TITLE_CHARS} characters, got ${title.length}`;
}

function countProblem(count: unknown, schedule: unknown): string | undefined {
  if (count === undefined) return undefined;
  if (isRecord(schedule) && schedule['type'] === 'once')
    return count === 1 ? undefined : 'must be 1, or left out, for a trigger that comes once';
  return Number.isInteger(count) && Number(count) >= 1 && Number(count) <= MAX_TRIGGER_INVOCATIONS
    ? undefined
    : `must be a whole number from 1 to ${MAX_TRIGGER_INVOCATIONS}`;
}

function instantProblem(value: unknown, nowMs: number): string | undefined {
  const at = typeof value === 'string' && INSTANT.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return 'must be an instant with an offset, such as "2026-12-24T18:00:00Z"';
  return at > nowMs ? undefined : 'must be in the future';
}

function scheduleProblem(schedule: unknown, nowMs: number): FieldProblem | undefined {
  if (!isRecord(schedule))
    return { path: '/schedule', message: 'must be an object with "type" and "value"' };
  const { type, value, timeZone, ...others } = schedule;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    return { path: `/schedule/${unknown}`, message: 'is no field of a schedule' };
  if (!TRIGGER_TYPES.some((known) => known === type))
    return { path: '/schedule/type', message: `must be one of ${TRIGGER_TYPES.join(', ')}` };
  if (timeZone !== undefined && type !== 'cron')
    return { path: '/schedule/timeZone', message: 'can be given with type "cron" only' };
  if (timeZone !== undefined && !isTimeZone(timeZone))
    return { path: '/schedule/timeZone', message: 'must be a time zone such as "Europe/Berlin"' };
  const message = valueProblem(type as TriggerSchedule['type'], value, nowMs);
  return message === undefined ? undefined : { path: '/schedule/value', message };
}

function valueProblem(
  type: TriggerSchedule['type'],
  value: unknown,
  nowMs: number,
): string | undefined {
  if (typeof value !== 'string') return 'must be a text';
  switch (type) {
    case 'once':
      return instantProblem(value, nowMs);
    case 'interval':
      return durationProblem(value, { minMs: MIN_TRIGGER_INTERVAL_MS, maxMs: MAX_WAIT_MS });
    case 'cron': {
      const cron = parseCron(value);
      return typeof cron === 'string' ? cron : undefined;
    }
  }
}

/** A conversation that closes before its trigger comes would lose it in silence. */
function comingProblem(spec: TriggerSpec, { nowMs, idleCloseMs }: Now): string | undefined {
  if (nextTriggerTime(spec, nowMs, nowMs) === undefined)
    return 'never comes before the trigger ends';
  const pause = pauseBeyond(spec, nowMs, Math.min(idleCloseMs, MAX_WAIT_MS));
  if (pause === undefined) return undefined;
  const days = (milliseconds: number): string => `${(milliseconds / DAY_MS).toFixed(1)} days`;
  return idleCloseMs < MAX_WAIT_MS
    ? `leaves ${days(pause)} between events, but the conversation closes after ${days(idleCloseMs)} without input (settings.idleClose of its agent)`
    : `must come within ${days(MAX_WAIT_MS)}, got ${days(pause)}`;
}

/** The first pause of the next year, that before the first event included, that is longer than the bound. */
function pauseBeyond(spec: TriggerSpec, nowMs: number, boundMs: number): number | undefined {
  const { endsAt, maxInvocations = Number.POSITIVE_INFINITY } = spec;
  const endMs = endsAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(endsAt);
  let from = nowMs;
  let count = 0;
  for (const next of timesOf(spec, nowMs)) {
    if (next > endMs || count >= maxInvocations || from > nowMs + YEAR_MS) return undefined;
    if (next - from > boundMs) return next - from;
    from = next;
    count += 1;
  }
  return undefined;
}

/** The times of a cron expression, and the first two of another schedule, whose pauses are alike. */
function* timesOf({ schedule }: TriggerSpec, nowMs: number): Generator<number, void, undefined> {
  const cron = schedule.type === 'cron' ? parseCron(schedule.value) : '';
  if (typeof cron !== 'string') return yield* cronTimes(cron, schedule.timeZone ?? 'UTC', nowMs);
  let from: number | undefined = nowMs;
  for (let looks = 0; looks < 2; looks += 1) {
    from = nextOf(schedule, nowMs, from);
    if (from === undefined) return;
    yield from;
  }
}

/**
 * The first time after `afterMs` at which a valid trigger comes, in milliseconds; undefined when none is left. Times are
 * whole seconds. Does not count invocations.
 */
export function nextTriggerTime(
  { schedule, endsAt }: Pick<TriggerSpec, 'schedule' | 'endsAt'>,
  createdMs: number,
  afterMs: number,
): number | undefined {
  const next = nextOf(schedule, createdMs, afterMs);
  return next === undefined || (endsAt !== undefined && next > Date.parse(endsAt))
    ? undefined
    : next;
}

function nextOf(
  { type, value, timeZone = 'UTC' }: TriggerSchedule,
  createdMs: number,
  afterMs: number,
): number | undefined {
  switch (type) {
    case 'once': {
      const at = onceMs(value);
      return at > afterMs ? at : undefined;
    }
    case 'interval': {
      const { everyMs, phaseMs } = intervalOf(value, createdMs);
      return (Math.floor((afterMs - phaseMs) / everyMs) + 1) * everyMs + phaseMs;
    }
    case 'cron': {
      const cron = parseCron(value);
      return typeof cron === 'string' ? undefined : nextCronTime(cron, timeZone, afterMs);
    }
  }
}

const SECOND_MS = 1_000;

/** The instant of a trigger that comes once, on the next whole second. */
export function onceMs(value: string): number {
  return Math.ceil(Date.parse(value) / SECOND_MS) * SECOND_MS;
}

/** Length and phase of an interval: the first event comes one length after the trigger was made. */
export function intervalOf(value: string, createdMs: number): { everyMs: number; phaseMs: number } {
  const everyMs = Math.round((durationMs(value) ?? 0) / SECOND_MS) * SECOND_MS;
  const created = Math.floor(createdMs / SECOND_MS) * SECOND_MS;
  return { everyMs, phaseMs: created % everyMs };
}
