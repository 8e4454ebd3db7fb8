/** Checks of a conversation whose workers were killed, once it has come to rest. */
import { join } from 'node:path';
import { type OpenLog, openEventLog } from 'colloquy/log';
import { expect } from 'vitest';
import { retryQuery } from '../../../src/client/temporal/query-retry.js';
import { applyAll } from '../../../src/core/apply/apply.js';
import { snapshotOf } from '../../../src/core/view/snapshot.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { EngineHistory } from '../../support/engine/history.js';
import { replayAll } from '../../support/engine/replay.js';
import { startAsking } from '../../support/histories/asked-from-outside.js';
import { expectInvariants } from '../../support/schedules/core-invariants.js';
import { until } from '../../support/until.js';
import type { GatedCall, Held } from './grpc-gate.js';
import { expectModelRead } from './model-reads.js';
import type { Talk } from './talk.js';
import type { World } from './world.js';

const PATIENCE_MS = 90_000;

/** Whether a worker's call concerns this conversation. */
export function isAbout(talk: Talk, method: string): (call: GatedCall) => boolean {
  return (call) => call.method === method && call.body.includes(talk.workflowId);
}

/**
 * Waits until a call about this conversation is held. @throws with its newest events and the worker's output when none
 * arrives
 */
export async function untilHeld(world: World, talk: Talk, held: Held): Promise<void> {
  try {
    await held.met;
  } catch (error) {
    const histories = new EngineHistory(world.temporal);
    const found: string[] = [];
    for (const runId of await histories.runs(talk.workflowId))
      found.push(
        `${runId}: ${(await histories.lines(talk.workflowId, runId)).slice(-12).join(', ')}`,
      );
    const output = world.stack.worker().output();
    throw new Error(`${talk.id} was not held\n${found.join('\n')}\n${output}`, { cause: error });
  }
}

/** Ends one turn of another conversation: the first task of a worker takes seconds on a slow machine. */
export async function warmUp({ talk }: World): Promise<void> {
  const first = talk('first');
  await first.begin('crasher', 'do first.1: glance', { mayWait: true });
  await first.ended();
}

/**
 * Queries these conversations from outside until the returned function is called, which throws if one of them cannot be
 * replayed.
 */
export function askAbout({ temporal, talk }: World, ids: readonly string[]): () => Promise<void> {
  const workflowIds = ids.map((id) => talk(id).workflowId);
  return startAsking({ temporal }, workflowIds);
}

export async function workflowOf(world: World, talk: Talk): Promise<ConversationSnapshot> {
  const handle = world.temporal.workflow.getHandle(talk.workflowId);
  return await retryQuery(() => handle.query<ConversationSnapshot>('snapshot'));
}

/** The log in the store, once it has every event of the workflow and so many turns have ended. */
export async function wholeLog(
  world: World,
  talk: Talk,
  turns: number,
): Promise<readonly CanonicalEvent[]> {
  const look = async (): Promise<readonly CanonicalEvent[]> => await talk.events();
  return await until(`${talk.id} has ended ${turns} turns`, look, {
    holds: (events) => events.filter(({ type }) => type === 'turn_ended').length >= turns,
    timeoutMs: PATIENCE_MS,
  }).then(async () => {
    const { seq } = await workflowOf(world, talk);
    return await until(`the log of ${talk.id} has seq ${seq}`, look, {
      holds: (events) => (events.at(-1)?.seq ?? 0) >= seq,
      timeoutMs: PATIENCE_MS,
    });
  });
}

/**
 * Expects a dense log of one generation that folds to the workflow's snapshot, no failed task, a replay of every run,
 * and each result sent to the model once and in call order. Returns the ids of the runs.
 */
export async function expectWhole(
  world: World,
  talk: Talk,
  of: {
    readonly events: readonly CanonicalEvent[];
    readonly code: string;
    readonly finale: string;
  },
): Promise<readonly string[]> {
  const { events, code, finale } = of;
  const state = applyAll(events);
  if (state === undefined) throw new Error('the log is empty');
  expectInvariants({ state, events: [...events] });
  expect(await workflowOf(world, talk)).toEqual(snapshotOf(state));
  const opened: OpenLog = await openEventLog(join(world.folder, 'log.db'));
  const head = await opened.log.head({ tenant: 'default', conversationId: talk.id });
  await opened.close();
  expect(head?.generation).toBe(1);
  expectModelRead(world.model.requests, { id: talk.id, finale, events });
  const history = new EngineHistory(world.temporal);
  const runs = await history.runs(talk.workflowId);
  const histories: { workflowId: string; history: unknown }[] = [];
  for (const runId of runs) {
    expect(await history.failedTasks(talk.workflowId, runId), runId).toEqual([]);
    const handle = world.temporal.workflow.getHandle(talk.workflowId, runId);
    histories.push({ workflowId: talk.workflowId, history: await handle.fetchHistory() });
  }
  await replayAll({ code }, histories);
  expect(events.filter(({ type }) => type === 'rolled_over')).toHaveLength(runs.length - 1);
  return runs;
}
