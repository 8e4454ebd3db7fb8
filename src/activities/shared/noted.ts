/** Notes for the watchdog which activity is under way, for which conversation and tool. Runs in the worker. */

import { isRecord } from '../../protocol/values/json.js';
import type { ConversationActivities } from '../../protocol/workflow/activities.js';
import { underWay } from '../../watchdog/operations.js';
import { wrappedActivities } from './wrapped.js';

/** The same activities; each is noted from its beginning to its end. */
export function notedActivities(activities: ConversationActivities): ConversationActivities {
  return wrappedActivities(
    activities,
    (name, run) => (input) => underWay(noteOf(name, input), () => run(input)),
  );
}

/** `activity runTool payments.refund of default/order-42, call call_1`: names and ids, nothing of what was said. */
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
