/** `peek_inbox`: an agent reads the events that wait for its next turn. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { InboxSpec } from '../../../../src/define/agent/settings.js';
import { defineAgent, defineTool } from '../../../../src/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { inboxOf } from '../../../../src/spaces/inbox.js';
import { INBOX, type InboxOfAgents, SPACES, spacesPlugin } from '../../../../src/spaces/index.js';
import { createLocalLiveChannel } from '../../../../src/store/live/local.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { calls, says, testConversation } from '../../../../src/testing/index.js';
import { workerPorts } from '../../../../src/worker/spaces/ports.js';
import { promise } from '../../../support/promise.js';
import { BUILT_IN_NAMES } from '../../../support/spaces/built-in-names.js';
import { watched } from '../../kit/plugins/watched.js';

const event = (n: number, payload: Json = { n }) => ({ eventId: `e${n}`, kind: 'note', payload });
const TURN = { tenant: 'default', conversationId: 'test', turnId: 'turn_test_1', step: 1 };

/** An agent with `peek_inbox`; its tool `look` lets events arrive, and the event log has them before the next call. */
async function agentOf(
  answers: readonly ScriptedAnswer[],
  ...arriving: ReturnType<typeof event>[]
) {
  return await agentWith({ whileBusy: 'next_turn' }, answers, ...arriving);
}

async function agentWith(
  inboxSettings: InboxSpec,
  answers: readonly ScriptedAnswer[],
  ...arriving: ReturnType<typeof event>[]
) {
  const opened = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => opened.log.close());
  const { model, requests } = watched(...answers);
  const look = defineTool({
    ...{ name: 'look', description: 'Looks', input: z.object({}) },
    run: () => {
      for (const each of arriving) void t.sendEvent(each);
      return 'seen';
    },
  });
  const agent = defineAgent({
    ...{ name: 'bot', model, instructions: 'Help.', tools: [look], resultForm: 'bare' },
    plugins: [spacesPlugin({ peekInbox: true })],
    settings: { inbox: inboxSettings, toolExecution: 'sequential' },
  });
  let lags = 0;
  const { log } = opened;
  const live = createLocalLiveChannel();
  const ports = workerPorts({ ...opened, live, close: () => log.close() });
  const stored = ports[INBOX.id] as InboxOfAgents;
  const inbox: InboxOfAgents = {
    waiting: async (turn) => {
      lags -= 1;
      if (lags >= 0) return await stored.waiting(turn);
      const { events } = t;
      await log.append({ ...TURN, runId: 'run', events });
      return await stored.waiting(turn);
    },
  };
  const t = testConversation(agent, {
    ports: { [SPACES.id]: ports[SPACES.id], [INBOX.id]: inbox },
  });
  const lag = (reads: number) => {
    lags = reads;
  };
  const results = () => t.eventsOf('tool_result').map(({ result }) => result.envelope);
  return { t, requests, results, lag };
}

describe('peek_inbox', promise('G420', '2.H.1'), () => {
  it('reads events that wait whole, and leaves them to the next turn', async () => {
    const long = 'x'.repeat(2_000);
    const { t, requests, results } = await agentOf(
      [calls('look', {}), calls('peek_inbox', {}), says('Looked.'), says('Read.')],
      event(1, { long }),
      event(2),
    );
    await t.sendEvent(event(0));
    expect(results()[1]).toMatchObject({
      ok: true,
      result: {
        success: true,
        events: [
          { eventId: 'e1', type: 'note', data: { long }, timestamp: expect.any(String) as string },
          { eventId: 'e2', type: 'note', data: { n: 2 } },
        ],
      },
    });
    expect(results()[1]).not.toHaveProperty('result.more');
    // The preview of the same step has the beginning alone.
    expect(JSON.stringify(requests[1]?.messages)).not.toContain(long);
    const starts = t.eventsOf('turn_started').map(({ inbox }) => inbox);
    expect(starts).toEqual([['e0'], ['e1', 'e2']]);
    expect(t.text).toBe('Read.');
  });

  it('has at most so many of the oldest, and says how many it leaves out', async () => {
    const large = 'x'.repeat(30_000);
    const { t, results } = await agentOf(
      [
        calls('look', {}),
        calls('peek_inbox', { limit: 1 }),
        calls('peek_inbox', {}),
        says('Looked.'),
        says('Read.'),
      ],
      ...[1, 2, 3].map((n) => event(n, { large })),
    );
    await t.sendEvent(event(0));
    expect(results().slice(1, 3)).toMatchObject([
      { result: { events: [{ eventId: 'e1' }], omitted: 2 } },
      { result: { events: [{ eventId: 'e1' }, { eventId: 'e2' }], omitted: 1 } },
    ]);
  });

  it('reads again where the log lags behind the turn, in place of events of turns before', async () => {
    const { t, results, lag } = await agentOf(
      [
        ...[calls('peek_inbox', {}), says('Looked.')],
        ...[calls('look', {}), calls('peek_inbox', {}), says('Looked.'), says('Read.')],
      ],
      event(2),
    );
    await t.sendEvent(event(0));
    expect(results()).toMatchObject([{ result: { events: [] } }]);
    lag(1);
    await t.sendEvent(event(1));
    expect(results()[2]).toMatchObject({ ok: true, result: { events: [{ eventId: 'e2' }] } });
    expect(t.text).toBe('Read.');
  });

  it('returns no event that a model call of the turn has read, where calls read the inbox', async () => {
    const { t, requests, results } = await agentWith(
      { whileBusy: 'read' },
      [calls('look', {}), calls('peek_inbox', {}), says('Read.')],
      event(1),
    );
    await t.sendEvent(event(0));
    expect(JSON.stringify(requests[1]?.messages)).toContain('(id e1)');
    expect(results()).toMatchObject([{}, { ok: true, result: { events: [] } }]);
    expect(t.eventsOf('turn_started')).toHaveLength(1);
  });

  it('is a tool of agents that ask for it: the built-in tools stay the twelve', () => {
    const namesOf = (options: Parameters<typeof spacesPlugin>[0]) =>
      spacesPlugin(options).tools.map(({ name }) => name);
    expect(namesOf({}).toSorted()).toEqual([...BUILT_IN_NAMES].toSorted());
    expect(namesOf({ peekInbox: true })).toEqual([...namesOf({}), 'peek_inbox']);
  });
});

describe('the log', promise('G420'), () => {
  const begins = (chain: string, whileBusy?: 'next_turn') => ({
    ...{ type: 'conversation_started', chain },
    settings: { inbox: whileBusy === undefined ? {} : { whileBusy } },
  });
  const turn = (chain: string) => ({ type: 'turn_started', turnId: `turn_${chain}_1` });
  const step = (chain: string, n: number) => ({
    ...{ type: 'model_call', turnId: `turn_${chain}_1`, step: n },
  });
  const arrives = (n: number) => ({ type: 'inbox_event', ...event(n), at: 'now' });

  /** The ids of the events that wait, for a call of the second step of the turn. */
  async function waitingIn(chain: string, ...events: readonly object[]) {
    const log = events.map((each, index) => ({ ...each, seq: index + 1 }));
    const inbox = inboxOf({
      read: (_key, { beforeSeq, afterSeq = -1, limit = 200 } = {}) => {
        const found = log.filter(({ seq }) => seq > afterSeq && seq < (beforeSeq ?? 1_000));
        if (beforeSeq !== undefined) found.reverse();
        return Promise.resolve({
          ...{ generation: 1, lastSeq: log.length },
          ...{ events: found.slice(0, limit) as never, more: found.length > limit },
        });
      },
    });
    const asked = { ...TURN, turnId: `turn_${chain}_1`, step: 2 };
    return (await inbox.waiting(asked))?.events.map(({ eventId }) => eventId);
  }

  it('has events behind the newest model call, where each call reads the inbox', async () => {
    const read = [turn('a'), step('a', 1), arrives(1), step('a', 2), arrives(2)];
    expect(await waitingIn('a', begins('a'), ...read)).toEqual(['e2']);
    expect(await waitingIn('a', begins('a', 'next_turn'), ...read)).toEqual(['e1', 'e2']);
  });

  it('is behind the turn until it has the model call that asks', async () => {
    const read = [turn('a'), step('a', 1), arrives(1)];
    expect(await waitingIn('a', begins('a'), ...read)).toBeUndefined();
    expect(await waitingIn('a', begins('a', 'next_turn'), ...read)).toEqual(['e1']);
  });

  it('has the settings of its newest beginning: of a conversation that was opened again, or a fork', async () => {
    const before = [begins('a'), turn('a'), step('a', 1)];
    const read = [turn('b'), step('b', 1), arrives(1), step('b', 2), arrives(2)];
    const later = begins('b', 'next_turn');
    expect(await waitingIn('b', ...before, later, ...read)).toEqual(['e1', 'e2']);
    // A fork in the middle of a turn goes on with it.
    const rest = [arrives(1), step('a', 2), arrives(2)];
    expect(await waitingIn('a', ...before, later, ...rest)).toEqual(['e1', 'e2']);
  });
});

it('results of calls have the fields of Hsafa, and an endless turn ends the search', async () => {
  const at = '2030-01-01T00:00:00.000Z';
  const result = { ok: true, result: { confirmed: true } };
  const late = { eventId: 'tr:c1', kind: 'tool_result', toolCallId: 'c1', name: 'confirmAction' };
  const settings = { inbox: { whileBusy: 'next_turn' } };
  const started = { type: 'conversation_started', chain: 'test', settings };
  const beginning = { generation: 1, lastSeq: 1, events: [started as never], more: true };
  const reads: number[] = [];
  const inbox = inboxOf({
    read: (_key, { beforeSeq = 0 } = {}) => {
      const seq = Math.min(beforeSeq, 10_000) - 1;
      if (beforeSeq === 0) return Promise.resolve(beginning);
      reads.push(beforeSeq);
      const recorded = { type: 'inbox_event', ...late, originTurnId: 'turn_0', result, seq, at };
      return Promise.resolve({
        generation: 1,
        lastSeq: 1,
        events: [recorded as never],
        more: true,
      });
    },
  });
  const { events = [], more } = (await inbox.waiting(TURN)) ?? {};
  expect(more).toBe(true);
  expect(reads).toHaveLength(10);
  expect(events[0]).toEqual({
    ...{ eventId: 'tr:c1', type: 'tool_result', timestamp: at },
    data: { toolCallId: 'c1', toolName: 'confirmAction', originRunId: 'turn_0', result },
  });
});

it('the start of a conversation that was opened again is looked for in a bounded part of the log', async () => {
  const at = '2030-01-01T00:00:00.000Z';
  const first = { type: 'conversation_started', chain: 'other', settings: {}, seq: 1, at };
  let reads = 0;
  const inbox = inboxOf({
    read: (_key, { beforeSeq = 0 } = {}) => {
      reads += 1;
      const seq = Math.min(beforeSeq, 1_000_000) - 1;
      const { turnId } = TURN;
      const call = { type: 'model_call', turnId, step: 1, seq, at };
      const began = { type: 'turn_started', turnId, seq: seq - 1, at };
      const older = { type: 'user_message', seq, at };
      const page = beforeSeq > 1_000_000 ? [call, began] : [older];
      const events = (beforeSeq === 0 ? [first] : page) as never;
      return Promise.resolve({ generation: 1, lastSeq: 1, events, more: true });
    },
  });
  expect(await inbox.waiting(TURN)).toEqual({ events: [], more: false });
  expect(reads).toBe(52);
});
