/** The schedule of Temporal that a trigger is. */
import type { CalendarSpec, ScheduleOptions, ScheduleSpec } from '@temporalio/client';
import { DAYS_OF_WEEK, MONTHS, type Month } from '@temporalio/client';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../protocol/limits/service-limits.js';
import { type Cron, parseCron } from '../../protocol/triggers/cron.js';
import { intervalOf, onceMs } from '../../protocol/triggers/rules.js';
import { type TriggerInput, triggerScheduleId } from '../../protocol/triggers/triggers.js';
import { TRIGGER_WORKFLOW_TYPE } from '../../protocol/workflow/messaging.js';
import { shownText } from '../../protocol/workflow/shown-text.js';

/**
 * Events that fell due while the server was away: the first of them comes when it is back, the others are skipped. The
 * longest pause between two events is a year.
 */
const CATCH_UP = '366 days';

export function scheduleOptionsOf(input: TriggerInput, taskQueue: string): ScheduleOptions {
  const scheduleId = triggerScheduleId(input, input.triggerId);
  const remainingActions = input.schedule.type === 'once' ? 1 : input.maxInvocations;
  return {
    scheduleId,
    spec: specOf(input),
    action: {
      type: 'startWorkflow',
      workflowType: TRIGGER_WORKFLOW_TYPE,
      workflowId: scheduleId,
      taskQueue,
      args: [input],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      staticSummary: `trigger of ${input.conversationId}: ${shownText(input.title)}`,
    },
    policies: { overlap: 'SKIP', catchupWindow: CATCH_UP },
    ...(remainingActions === undefined ? {} : { state: { remainingActions } }),
  };
}

function specOf({ schedule, createdAt, endsAt }: TriggerInput): ScheduleSpec {
  const end = endsAt === undefined ? {} : { endAt: new Date(endsAt) };
  switch (schedule.type) {
    case 'once':
      return { ...end, calendars: [calendarOf(new Date(onceMs(schedule.value)))] };
    case 'interval': {
      const { everyMs, phaseMs } = intervalOf(schedule.value, Date.parse(createdAt));
      return { ...end, intervals: [{ every: everyMs, offset: phaseMs }] };
    }
    case 'cron': {
      const cron = parseCron(schedule.value);
      if (typeof cron === 'string') throw new TypeError(`cron: ${cron}`);
      return { ...end, calendars: calendarsOf(cron), timezone: schedule.timeZone ?? 'UTC' };
    }
  }
}

function calendarOf(at: Date): CalendarSpec {
  return {
    year: at.getUTCFullYear(),
    month: monthOf(at.getUTCMonth() + 1),
    dayOfMonth: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
  };
}

/** All fields of one calendar must match, so a day of either kind needs two. */
function calendarsOf({ minutes, hours, days, months, weekdays, eitherDay }: Cron): CalendarSpec[] {
  const times = {
    minute: [...minutes],
    hour: [...hours],
    month: months.map((month) => monthOf(month)),
  };
  const byDay = { dayOfMonth: [...days] };
  const byWeekday = { dayOfWeek: weekdays.map((day) => DAYS_OF_WEEK[day] ?? 'SUNDAY') };
  return eitherDay
    ? [
        { ...times, ...byDay },
        { ...times, ...byWeekday },
      ]
    : [{ ...times, ...byDay, ...byWeekday }];
}

/** @param month from 1 */
function monthOf(month: number): Month {
  return MONTHS[month - 1] ?? 'JANUARY';
}
