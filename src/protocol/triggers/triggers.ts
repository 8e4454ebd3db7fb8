/**
 * Triggers: an event that comes to a conversation once, in an interval or by a cron expression. Their types, which are
 * wire format, and what is done with them. Runs anywhere.
 */
import type { StampedActor } from '../values/actors.js';
import type { ConversationKey } from '../values/ids.js';
import type { Json } from '../values/json.js';

export const TRIGGER_TYPES = ['once', 'interval', 'cron'] as const;

/**
 * | type | value | comes |
 * |---|---|---|
 * | `once` | an instant: `2026-12-24T18:00:00Z`, with an offset | at that second |
 * | `interval` | a duration: `'2 hours'` | that long after the trigger was made, and so on |
 * | `cron` | five fields: `0 9 * * mon-fri` | at those minutes of `timeZone` |
 */
export interface TriggerSchedule {
  readonly type: (typeof TRIGGER_TYPES)[number];
  readonly value: string;
  /** IANA name such as `Europe/Berlin`; only with `cron`. @defaultValue UTC */
  readonly timeZone?: string;
}

/** A trigger as its maker declares it. */
export interface TriggerSpec {
  /** Stable, for safe repeats: the same id with the same content is one trigger. @defaultValue a new one */
  readonly id?: string;
  /** Title in lists, and for the model. */
  readonly title: string;
  /** The text that the model reads with each event. */
  readonly goal: string;
  readonly schedule: TriggerSchedule;
  /** Events after which the trigger ends. @defaultValue 1 for `once`, else any number */
  readonly maxInvocations?: number;
  /** An instant with an offset; no event comes after it. */
  readonly endsAt?: string;
  /** Text that the model reads with the next event. */
  readonly note?: string;
}

/** Makers of triggers: tools of the agent, or the application. */
export type TriggerMaker = 'agent' | 'client';

export interface Trigger extends Omit<TriggerSpec, 'id'> {
  readonly id: string;
  readonly madeBy: TriggerMaker;
  readonly createdBy: StampedActor;
  readonly createdAt: string;
  /** `ended`: no event comes any more; the trigger is removed within days. */
  readonly status: 'active' | 'paused' | 'ended';
  /** Events that were due and begun until now. */
  readonly invocations: number;
  /** Absent when none comes, or the trigger is paused. */
  readonly nextAt?: string;
}

export interface TriggerCreation {
  /** Ids of triggers of the conversation; one that is not there is left out. @defaultValue none */
  readonly replaces?: readonly string[];
}

/** The triggers of one conversation. */
export interface Triggers {
  /**
   * Makes a trigger, in place of those that it `replaces`: they do not count in the bound, and are removed once it is
   * made. A repeat with the same `id` and content returns the trigger that exists.
   * @throws `invalid_request`, `too_many_triggers`, `unknown_conversation`, `conversation_closed`
   */
  create(spec: TriggerSpec, options?: TriggerCreation): Promise<Trigger>;
  /** Oldest first. One that was made or removed a moment ago may be missing, or still be there. */
  list(): Promise<readonly Trigger[]>;
  /** @throws `unknown_trigger` */
  get(id: string): Promise<Trigger>;
  /** Replaces the text that the model reads with the next event; '' removes it. @throws `unknown_trigger` */
  setNote(id: string, note: string): Promise<Trigger>;
  /** Safe to repeat. Events that fall due meanwhile do not come later. @throws `unknown_trigger` */
  pause(id: string): Promise<Trigger>;
  /** Safe to repeat. @throws `unknown_trigger` */
  resume(id: string): Promise<Trigger>;
  /** Removes a trigger; an event that is under way but not delivered does not come. @throws `unknown_trigger` */
  remove(id: string): Promise<void>;
}

/** The argument of the workflow `trigger`, pinned in its schedule. A new field must be optional. */
export interface TriggerInput extends ConversationKey, Omit<TriggerSpec, 'id'> {
  readonly triggerId: string;
  /** First run of the conversation: another one that begins under the same id gets no event. */
  readonly firstRunId: string;
  readonly madeBy: TriggerMaker;
  readonly createdBy: StampedActor;
  readonly createdAt: string;
}

/** Input of the activity `deliverTrigger`. */
export interface DeliverTriggerInput extends TriggerInput {
  /** The instant for which the event was due. */
  readonly scheduledAt: string;
}

/** Result of the activity and of the workflow. */
export interface TriggerDelivery {
  /** `delivered`, also by an earlier attempt; `conversation_ended`: the trigger is removed. */
  readonly outcome: 'delivered' | 'conversation_ended';
  /** The trigger was removed, since no event is left. */
  readonly removed?: true;
}

export const TRIGGER_EVENT_KIND = 'trigger';

/** The inbox event of one run: its id is the same in each attempt. */
export function triggerEventOf(
  trigger: Pick<
    DeliverTriggerInput,
    'triggerId' | 'title' | 'goal' | 'note' | 'scheduledAt' | 'createdBy'
  >,
): { eventId: string; kind: string; payload: Json; actor: StampedActor } {
  const { triggerId, title, goal, note, scheduledAt } = trigger;
  const { id, name } = trigger.createdBy;
  return {
    eventId: `trigger:${triggerId}:${scheduledAt}`,
    kind: TRIGGER_EVENT_KIND,
    payload: { triggerId, title, goal, scheduledAt, ...(note === undefined ? {} : { note }) },
    // Roles of the time when the trigger was made may not hold any more.
    actor: { id, ...(name === undefined ? {} : { name }), verified: false, channel: 'client' },
  };
}

/** The workflow id `trigger:<tenant>:<conversationId>:<triggerId>`, also the id of the schedule. */
export function triggerScheduleId(key: ConversationKey, triggerId: string): string {
  return `${triggerPrefixOf(key)}${triggerId}`;
}

/** The prefix of the ids of a tenant's triggers, or of one conversation's. */
export function triggerPrefixOf({
  tenant,
  conversationId,
}: Pick<ConversationKey, 'tenant'> & Partial<ConversationKey>): string {
  return `trigger:${tenant}:${conversationId === undefined ? '' : `${conversationId}:`}`;
}

/** The declared fields alone: the content by which a repeat is recognised. */
export function declaredFields(spec: Omit<TriggerSpec, 'id'>): Omit<TriggerSpec, 'id'> {
  const { title, goal, schedule, maxInvocations, endsAt, note } = spec;
  const { type, value, timeZone } = schedule;
  return {
    title,
    goal,
    schedule: { type, value, ...(timeZone === undefined ? {} : { timeZone }) },
    ...(maxInvocations === undefined ? {} : { maxInvocations }),
    ...(endsAt === undefined ? {} : { endsAt }),
    ...(note === undefined || note === '' ? {} : { note }),
  };
}

/** Whether two declarations are the same trigger. The note does not count, since it changes. */
export function isSameTrigger(
  one: Omit<TriggerSpec, 'id'>,
  other: Omit<TriggerSpec, 'id'>,
): boolean {
  const content = (spec: Omit<TriggerSpec, 'id'>): string => {
    const { note: _note, ...rest } = declaredFields(spec);
    return JSON.stringify(rest);
  };
  return content(one) === content(other);
}
