/**
 * The schedules of triggers on the server, which owns them: their times, how many events are left, and whether they are
 * paused. Every method is safe to repeat.
 */
import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
} from '@temporalio/client';
import { UPDATE_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import {
  declaredFields,
  type Trigger,
  type TriggerInput,
  triggerPrefixOf,
  triggerScheduleId,
} from '../../protocol/triggers/triggers.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { TRIGGER_WORKFLOW_TYPE } from '../../protocol/workflow/messaging.js';
import { encodedValue } from '../history/values.js';
import { unlessGone } from '../temporal/errors.js';
import { pauseFor } from '../temporal/waiting.js';
import { scheduleOptionsOf } from './schedule-options.js';

/** A trigger with the argument that its next run gets. */
export interface StoredTrigger {
  readonly input: TriggerInput;
  readonly trigger: Trigger;
}

const NOTE_TRIES = 5;
const NOTE_PAUSE_MS = 50;

export class TriggerSchedules {
  readonly #temporal: Client;

  constructor(temporal: Client) {
    this.#temporal = temporal;
  }

  /** False when there is a trigger of that id. */
  async create(input: TriggerInput, taskQueue: string): Promise<boolean> {
    try {
      await this.#within(() => this.#temporal.schedule.create(scheduleOptionsOf(input, taskQueue)));
      return true;
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) return false;
      throw error;
    }
  }

  /** Undefined when there is none (any more). */
  async find(key: ConversationKey, triggerId: string): Promise<StoredTrigger | undefined> {
    return await this.#ifThere(async () => storedOf(await this.#handle(key, triggerId).describe()));
  }

  /** By visibility, which may lag behind by a moment. */
  async list(key: ConversationKey): Promise<readonly StoredTrigger[]> {
    const found: StoredTrigger[] = [];
    const prefix = triggerPrefixOf(key);
    for (const id of await this.#ids(prefix)) {
      const stored = await this.find(key, id.slice(prefix.length));
      if (stored !== undefined) found.push(stored);
    }
    return found.sort((one, other) => one.input.createdAt.localeCompare(other.input.createdAt));
  }

  /** False when there is none (any more). */
  async setPaused(key: ConversationKey, triggerId: string, paused: boolean): Promise<boolean> {
    const handle = this.#handle(key, triggerId);
    const done = await this.#ifThere(async () => {
      await (paused ? handle.pause() : handle.unpause());
      return true;
    });
    return done ?? false;
  }

  /**
   * Replaces the note that the next run gets. The server drops an update that another change has overtaken, such as a
   * run that has begun, without an error: so the note is read again. False when there is no such trigger (any more).
   * @throws Error when other changes overtook each try
   */
  async setNote(key: ConversationKey, triggerId: string, note: string): Promise<boolean> {
    for (let tries = 0; tries < NOTE_TRIES; tries += 1) {
      const stored = await this.find(key, triggerId);
      if (stored === undefined) return false;
      if ((stored.input.note ?? '') === note) return true;
      if (tries > 0) await pauseFor(NOTE_PAUSE_MS);
      await this.#ifThere(() => this.#replaceNote(key, triggerId, note));
    }
    throw new Error(`The note of trigger "${triggerId}" was overtaken by other changes; try again`);
  }

  /** Removes the trigger, and ends its runs that have not delivered yet. False when there is none (any more). */
  async remove(key: ConversationKey, triggerId: string): Promise<boolean> {
    const handle = this.#handle(key, triggerId);
    const running = await this.#ifThere(async () => (await handle.describe()).info.runningActions);
    if (running === undefined) return false;
    await this.forget(key, triggerId);
    for (const { workflow } of running) await this.#terminate(workflow.workflowId);
    return true;
  }

  /** Removes the trigger alone, which its own run may do. */
  async forget(key: ConversationKey, triggerId: string): Promise<void> {
    await this.#ifThere(() => this.#handle(key, triggerId).delete());
  }

  /**
   * Removes all triggers of a conversation, or of a tenant, and their runs with their histories. False when the server
   * had none. By visibility, which may lag behind by moments.
   */
  async removeAll(of: Parameters<typeof triggerPrefixOf>[0]): Promise<boolean> {
    const prefix = triggerPrefixOf(of);
    const ids = await this.#ids(prefix);
    let hadAny = ids.length > 0;
    for (const id of ids) {
      const handle = this.#temporal.schedule.getHandle(id);
      const recent = await this.#ifThere(async () => (await handle.describe()).info.recentActions);
      await this.#ifThere(() => handle.delete());
      // Visibility may not have the newest of them yet.
      for (const { action } of recent ?? []) await this.#removeRun(action.workflow.workflowId);
    }
    const query = `WorkflowType = '${TRIGGER_WORKFLOW_TYPE}' AND WorkflowId STARTS_WITH '${prefix}'`;
    for await (const { workflowId, runId } of this.#temporal.workflow.list({ query }))
      if (workflowId.startsWith(prefix))
        hadAny = (await this.#removeRun(workflowId, runId)) || hadAny;
    return hadAny;
  }

  async #ids(prefix: string): Promise<readonly string[]> {
    const ids: string[] = [];
    const query = `ScheduleId STARTS_WITH '${prefix}'`;
    await this.#within(async () => {
      for await (const { scheduleId } of this.#temporal.schedule.list({ query }))
        if (scheduleId.startsWith(prefix)) ids.push(scheduleId);
    });
    return ids;
  }

  /** Works on the server's own form, so that everything but the argument stays as it is. */
  async #replaceNote(key: ConversationKey, triggerId: string, note: string): Promise<void> {
    const { namespace, loadedDataConverter } = this.#temporal.options;
    const scheduleId = triggerScheduleId(key, triggerId);
    const service = this.#temporal.workflowService;
    const { schedule, conflictToken } = await service.describeSchedule({ namespace, scheduleId });
    const stored = await this.find(key, triggerId);
    const started = schedule?.action?.startWorkflow;
    if (stored === undefined || !started) return;
    const { note: _old, ...rest } = stored.input;
    const input = { ...rest, ...(note === '' ? {} : { note }) };
    started.input = { payloads: await encodedValue(loadedDataConverter, input) };
    await service.updateSchedule({ namespace, scheduleId, schedule, conflictToken });
  }

  async #terminate(workflowId: string): Promise<void> {
    const handle = this.#temporal.workflow.getHandle(workflowId);
    await this.#ifThere(() => handle.terminate('the trigger was removed'));
  }

  /** False when the run is gone. */
  async #removeRun(workflowId: string, runId?: string): Promise<boolean> {
    const { namespace } = this.#temporal.options;
    const workflowExecution = { workflowId, ...(runId === undefined ? {} : { runId }) };
    const asked = await this.#ifThere(() =>
      this.#temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
    );
    return asked !== undefined;
  }

  /** Undefined when the server does not have the schedule or the run (any more). */
  async #ifThere<Value>(call: () => Promise<Value>): Promise<Value | undefined> {
    return await this.#within(call).catch(unlessGone);
  }

  #handle(key: ConversationKey, triggerId: string): ScheduleHandle {
    return this.#temporal.schedule.getHandle(triggerScheduleId(key, triggerId));
  }

  async #within<Value>(call: () => Promise<Value>): Promise<Value> {
    return await this.#temporal.withDeadline(Date.now() + UPDATE_DEADLINE_MS, call);
  }
}

/** Undefined for a schedule that is not one of the engine's triggers, even if it has such an id. */
function storedOf({ action, state, info }: ScheduleDescription): StoredTrigger | undefined {
  const [input] = (action.args ?? []) as readonly unknown[];
  if (!isTriggerInput(input)) return undefined;
  const [next] = info.nextActionTimes;
  const hasEnded = next === undefined || state.remainingActions === 0;
  const status = hasEnded ? 'ended' : state.paused ? 'paused' : 'active';
  const trigger: Trigger = {
    id: input.triggerId,
    ...declaredFields(input),
    madeBy: input.madeBy,
    createdBy: input.createdBy,
    createdAt: input.createdAt,
    status,
    invocations: info.numActionsTaken,
    ...(status === 'active' && next !== undefined ? { nextAt: next.toISOString() } : {}),
  };
  return { input, trigger };
}

function isTriggerInput(value: unknown): value is TriggerInput {
  return isRecord(value) && typeof value['triggerId'] === 'string' && isRecord(value['schedule']);
}
