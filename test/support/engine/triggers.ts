/** Events, schedules and runs of triggers in tests, and how their time is made to pass. */
import type { Conversation } from '../../../src/client/index.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { Engine } from './engine.js';

type Talk = Pick<Conversation, 'id'> & Partial<Pick<Conversation, 'tenant'>>;

const prefixOf = ({ id, tenant = 'default' }: Talk): string => `trigger:${tenant}:${id}:`;

/** An instant in two to three seconds, on a whole second. */
export function soon(): string {
  return new Date(Math.floor(Date.now() / 1000) * 1000 + 3_000).toISOString();
}

/** The events of other systems that the conversation has. */
export async function eventsIn(
  engine: Engine,
  talk: Conversation,
): Promise<readonly Extract<CanonicalEvent, { type: 'inbox_event' }>[]> {
  const events = await engine.log(talk);
  return events.flatMap((event) => (event.type === 'inbox_event' ? [event] : []));
}

/** Has a trigger come sooner than any user may ask for. */
export async function speedUp(
  { temporal }: Engine,
  talk: Talk,
  id: string,
  every: `${number}s`,
): Promise<void> {
  const handle = temporal.schedule.getHandle(`${prefixOf(talk)}${id}`);
  await handle.update((schedule) => ({ ...schedule, spec: { intervals: [{ every }] } }));
}

/** Ids of the schedules of a conversation. */
export async function schedulesOf({ temporal }: Engine, talk: Talk): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { scheduleId } of temporal.schedule.list())
    if (scheduleId.startsWith(prefixOf(talk))) ids.push(scheduleId);
  return ids;
}

/** The runs that schedules of a conversation have started. */
export async function runsOf(
  { temporal }: Engine,
  talk: Talk,
): Promise<readonly { readonly workflowId: string; readonly status: string }[]> {
  const runs = [];
  const query = `WorkflowType = 'trigger' AND WorkflowId STARTS_WITH '${prefixOf(talk)}'`;
  for await (const { workflowId, status } of temporal.workflow.list({ query }))
    runs.push({ workflowId, status: status.name });
  return runs;
}
