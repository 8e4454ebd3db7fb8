/** Notes for the watchdog which activity is running, for which conversation and tool. Runs in the worker. */
import { isRecord } from '../../protocol/values/json.js';
import type { ConversationActivities } from '../../protocol/workflow/activities.js';
import { underWay } from '../../watchdog/operations.js';

/** Wraps the activities: each is noted from its beginning to its end. */
export function notedActivities(activities: ConversationActivities): ConversationActivities {
  return wrappedActivities(
    activities,
    (name, run) => (input) => underWay(noteOf(name, input), () => run(input)),
  );
}

/** Returns `activity runTool payments.refund of default/order-42, call call_1`: names and ids, no content. */
export function noteOf(activity: string, input: unknown): string {
  if (!isRecord(input)) return `activity ${activity}`;
  const call = isRecord(input['call']) ? input['call'] : input;
  const { name, toolCallId } = call;
  const { tenant, conversationId } = input;
  return [
    `activity ${activity}`,
    ...(typeof name === 'string' ? [` ${name}`] : []),
    ...(typeof conversationId === 'string' ? [` of ${String(tenant)}/${conversationId}`] : []),
    ...(typeof toolCallId === 'string' ? [`, call ${toolCallId}`] : []),
  ].join('');
}

export type AnyActivity = (input: never) => Promise<unknown>;

/**
 * The same activities by the same names, each wrapped by `wrap`, which must keep the types of input and output. Only
 * this function needs to cast.
 */
export function wrappedActivities(
  activities: ConversationActivities,
  wrap: (name: string, run: AnyActivity) => AnyActivity,
): ConversationActivities {
  const entries = Object.entries(activities as unknown as Record<string, AnyActivity>);
  return Object.fromEntries(
    entries.map(([name, run]) => [name, wrap(name, run)]),
  ) as unknown as ConversationActivities;
}
