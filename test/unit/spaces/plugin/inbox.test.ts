/** `peek_inbox`: an agent reads the events that wait for its next turn. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
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
const TURN = { tenant: 'default', conversationId: 'test', turnId: 'turn_1' };

/** An agent with `peek_inbox`; its tool `look` lets events arrive, and the event log has them before the next call. */
async function agentOf(
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
    settings: { inbox: { whileBusy: 'next_turn' }, toolExecution: 'sequential' },
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

  it('is a tool of agents that ask for it: the built-in tools stay the twelve', () => {
    const namesOf = (options: Parameters<typeof spacesPlugin>[0]) =>
      spacesPlugin(options).tools.map(({ name }) => name);
    expect(namesOf({}).toSorted()).toEqual([...BUILT_IN_NAMES].toSorted());
    expect(namesOf({ peekInbox: true })).toEqual([...namesOf({}), 'peek_inbox']);
  });
});

it('results of calls have the fields of Hsafa, and an endless turn ends the search', async () => {
  const at = '2030-01-01T00:00:00.000Z';
  const result = { ok: true, result: { confirmed: true } };
  const late = { eventId: 'tr:c1', kind: 'tool_result', toolCallId: 'c1', name: 'confirmAction' };
  const reads: number[] = [];
  const inbox = inboxOf({
    read: (_key, { beforeSeq = 0 } = {}) => {
      reads.push(beforeSeq);
      const seq = Math.min(beforeSeq, 10_000) - 1;
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
