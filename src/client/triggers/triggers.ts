/** The triggers of one conversation, for an application or a tool of its agent. */
import { randomUUID } from 'node:crypto';
import { MAX_TRIGGERS } from '../../protocol/limits/service-limits.js';
import { triggerProblems, triggerTextProblem } from '../../protocol/triggers/rules.js';
import {
  declaredFields,
  isSameTrigger,
  type Trigger,
  type TriggerCreation,
  type TriggerInput,
  type TriggerMaker,
  type TriggerSpec,
  type Triggers,
} from '../../protocol/triggers/triggers.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { type ConversationKey, idProblem } from '../../protocol/values/ids.js';
import { ConversationError, invalidField } from '../api/errors.js';
import { checkOptions } from '../api/known-options.js';
import type { StoredTrigger, TriggerSchedules } from './schedules.js';

export interface TriggersParts {
  readonly key: ConversationKey;
  readonly schedules: TriggerSchedules;
  readonly taskQueue: string;
  readonly madeBy: TriggerMaker;
  readonly createdBy: StampedActor;
  /** The conversation now. @throws {ConversationError} unknown_conversation, temporal_unreachable */
  readonly conversation: () => Promise<TriggeredConversation>;
  readonly toConversationError: (error: unknown) => ConversationError;
  /** Makes the id of a trigger that names none. @defaultValue a random one */
  readonly nextId?: () => string;
}

export interface TriggeredConversation {
  /** Undefined when it is closed. */
  readonly firstRunId: string | undefined;
  /** Time without input after which the conversation closes by itself. */
  readonly idleCloseMs: number;
}

export class ConversationTriggers implements Triggers {
  readonly #parts: TriggersParts;

  constructor(parts: TriggersParts) {
    this.#parts = parts;
  }

  async create(spec: TriggerSpec, options: TriggerCreation = {}): Promise<Trigger> {
    checkOptions('createTrigger', options);
    const { replaces = [] } = options;
    const isList: boolean = Array.isArray(replaces);
    if (!isList) throw invalidField('/replaces', 'must be a list of ids');
    return await this.#mapped(async () => {
      const made = await this.#made(spec, replaces);
      for (const id of replaces)
        if (id !== made.id && (await this.#known(id)) !== undefined)
          await this.#parts.schedules.remove(this.#parts.key, id);
      return made;
    });
  }

  async list(): Promise<readonly Trigger[]> {
    return await this.#mapped(async () => {
      const { firstRunId } = await this.#parts.conversation();
      const all = await this.#parts.schedules.list(this.#parts.key);
      return all
        .filter(({ input }) => input.firstRunId === firstRunId)
        .map(({ trigger }) => trigger);
    });
  }

  async get(id: string): Promise<Trigger> {
    return await this.#mapped(async () => (await this.#existing(id)).trigger);
  }

  async setNote(id: string, note: string): Promise<Trigger> {
    const problem = triggerTextProblem(note);
    if (problem !== undefined) throw invalidField('/note', problem);
    return await this.#changed(id, (schedules, key) => schedules.setNote(key, id, note));
  }

  async pause(id: string): Promise<Trigger> {
    return await this.#changed(id, (schedules, key) => schedules.setPaused(key, id, true));
  }

  async resume(id: string): Promise<Trigger> {
    return await this.#changed(id, (schedules, key) => schedules.setPaused(key, id, false));
  }

  async remove(id: string): Promise<void> {
    await this.#mapped(async () => {
      await this.#existing(id);
      await this.#parts.schedules.remove(this.#parts.key, id);
    });
  }

  async #made(spec: TriggerSpec, replaces: readonly string[]): Promise<Trigger> {
    const { key, schedules, taskQueue, madeBy, createdBy, nextId } = this.#parts;
    const { firstRunId, idleCloseMs } = await this.#parts.conversation();
    const now = new Date();
    const known = typeof spec.id === 'string' ? await this.#known(spec.id) : undefined;
    if (known !== undefined) return this.#asRepeated(known, spec);
    checkSpec(spec, { nowMs: now.getTime(), idleCloseMs });
    if (firstRunId === undefined) throw closed(key);
    const id = spec.id ?? nextId?.() ?? `t-${randomUUID().slice(0, 13)}`;
    const others = (await this.list()).filter((each) => ![id, ...replaces].includes(each.id));
    if (others.length >= MAX_TRIGGERS) throw tooMany(key);
    const input: TriggerInput = {
      ...key,
      triggerId: id,
      firstRunId,
      ...declaredFields(spec),
      ...{ madeBy, createdBy, createdAt: now.toISOString() },
    };
    const isNew = await schedules.create(input, taskQueue);
    const made = await this.#known(id);
    if (made !== undefined) return isNew ? made.trigger : this.#asRepeated(made, spec);
    // A trigger of an earlier conversation of this id has the name, and goes with its next event.
    throw invalidField('/id', 'was used in an earlier conversation of this id; use another one');
  }

  async #changed(
    id: string,
    change: (schedules: TriggerSchedules, key: ConversationKey) => Promise<boolean>,
  ): Promise<Trigger> {
    return await this.#mapped(async () => {
      await this.#existing(id);
      await change(this.#parts.schedules, this.#parts.key);
      return (await this.#existing(id)).trigger;
    });
  }

  /** @throws {ConversationError} unknown_trigger */
  async #existing(id: string): Promise<StoredTrigger> {
    const stored = await this.#known(id);
    if (stored !== undefined) return stored;
    const text = `Conversation "${this.#parts.key.conversationId}" has no trigger "${id}"`;
    throw new ConversationError('unknown_trigger', text);
  }

  /** The trigger, if it is of this conversation and not of an earlier one under the same id. */
  async #known(id: string): Promise<StoredTrigger | undefined> {
    if (idProblem('id', id) !== undefined) return undefined;
    const { firstRunId } = await this.#parts.conversation();
    const stored = await this.#parts.schedules.find(this.#parts.key, id);
    return stored?.input.firstRunId === firstRunId ? stored : undefined;
  }

  #asRepeated({ trigger }: StoredTrigger, spec: TriggerSpec): Trigger {
    if (isSameTrigger(trigger, spec)) return trigger;
    throw invalidField('/id', 'was used before for a trigger with other content');
  }

  async #mapped<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      return await call();
    } catch (error) {
      throw this.#parts.toConversationError(error);
    }
  }
}

/** @throws {ConversationError} invalid_request with every field that breaks a rule */
function checkSpec(spec: TriggerSpec, now: Parameters<typeof triggerProblems>[1]): void {
  const problems = triggerProblems(spec, now);
  const [first] = problems;
  if (first === undefined) return;
  const why = `${first.path.slice(1)} ${first.message}`.trim();
  throw new ConversationError('invalid_request', `The trigger cannot be made: ${why}`, {
    problems,
  });
}

function closed({ conversationId }: ConversationKey): ConversationError {
  const text = `Conversation "${conversationId}" is closed; a message with reopen opens it again`;
  return new ConversationError('conversation_closed', text);
}

function tooMany({ conversationId }: ConversationKey): ConversationError {
  const text = `Conversation "${conversationId}" has ${MAX_TRIGGERS} triggers already; remove one first`;
  return new ConversationError('too_many_triggers', text);
}
