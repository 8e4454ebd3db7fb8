/** Notes for the watchdog which activity is running, for which conversation and tool. Runs in the worker. */

import { isRecord } from '../../protocol/values/json.js';
import type { ConversationActivities } from '../../protocol/workflow/activities.js';
import { underWay } from '../../watchdog/operations.js';
import { wrappedActivities } from './wrapped.js';

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
