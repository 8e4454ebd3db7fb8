/** The records of `PendingToolCall`, as views: every status by the events of a conversation, and by waiting calls. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  parseRunId,
  pendingToolCallOf,
  pendingToolCalls,
  runIdOf,
} from '../../../../src/compat/hsafa/index.js';
import { defineAgent, defineTool } from '../../../../src/index.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const base = { description: 'Works.', input: z.object({ n: z.int() }) };
const tools = [
  defineTool({ ...base, name: 'sync', executor: 'external', timeouts: { answer: '10s' } }),
  defineTool({
    ...base,
    name: 'async',
    executor: 'external',
    mode: 'detach',
    timeouts: { answer: '1h' },
  }),
  defineTool({ ...base, name: 'person', executor: 'human', timeouts: { answer: '10s' } }),
  defineTool({ ...base, name: 'client', executor: 'client' }),
  defineTool({ ...base, name: 'gated', executor: 'external', approval: 'required' }),
  defineTool({ ...base, name: 'server', run: () => 1 }),
];
type T = ReturnType<typeof talk>;

function talk(name: string, settings: object = {}) {
  const answers = Array.from({ length: 5 }, () => says('So.'));
  const model = script(calls(name, { n: 1 }), ...answers);
  return testConversation(
    defineAgent({ name: 'worker', model, instructions: 'Work.', tools, settings }),
  );
}

const result = (t: T) => t.resolve('call_1', { type: 'result', value: { ok: 1 } });
const SOME = expect.any(String) as string;
const none = async (): Promise<void> => undefined;

describe('the record of a call', promise('H41'), () => {
  it.each<[string, string, (t: T) => Promise<unknown>, object]>([
    ['sync', 'is waiting', none, { status: 'waiting', expiresAt: SOME }],
    ['sync', 'is resolved by its result', result, { status: 'resolved', result: { ok: 1 } }],
    ['sync', 'is pending when its time is over', (t) => t.advance('10s'), { status: 'pending' }],
    [
      'sync',
      'is resolved by a late result',
      async (t) => {
        await t.advance('10s');
        await result(t);
      },
      { status: 'resolved', result: { ok: 1 } },
    ],
    [
      'sync',
      'is resolved by an error',
      (t) => t.resolve('call_1', { type: 'error', message: 'down' }),
      { status: 'resolved', result: { error: 'down' } },
    ],
    [
      'sync',
      'is resolved when its turn is cancelled',
      (t) => t.cancel(),
      { status: 'resolved', result: { error: SOME } },
    ],
    ['async', 'is pending', none, { status: 'pending', expiresAt: SOME }],
    ['async', 'is resolved by its result', result, { status: 'resolved', result: { ok: 1 } }],
    [
      'async',
      'stays pending at its end, since a late result counts',
      (t) => t.advance('1h'),
      { status: 'pending' },
    ],
    ['person', 'is waiting', none, { status: 'waiting', expiresAt: SOME }],
    [
      'person',
      'is pending when a message moves it to the background',
      (t) => t.send('Hello?'),
      { status: 'pending', expiresAt: SOME },
    ],
    [
      'person',
      'is resolved without a result when a late one is not taken',
      (t) => t.advance('10s'),
      { status: 'resolved', result: { error: 'user did not respond' } },
    ],
    ['client', 'is waiting', none, { status: 'waiting', expiresAt: SOME }],
    [
      'gated',
      'is waiting once it is approved',
      (t) => t.approve('gated'),
      { status: 'waiting', expiresAt: SOME },
    ],
  ])('of a tool that is %s %s', async (name, _title, act, expected) => {
    const t = talk(name);
    await t.send('go');
    const { turnId } = t.eventsOf('turn_started')[0] ?? { turnId: '' };
    await act(t);
    const [record, ...others] = pendingToolCalls('c1', t.events);
    expect(others).toEqual([]);
    expect(record).toEqual({
      ...{ toolCallId: 'call_1', toolName: name, args: { n: 1 } },
      ...{ agentEntityId: 'c1', runId: `c1:${turnId}` },
      ...expected,
    });
  });

  it.each(['server', 'gated'])(
    'is not there for a tool that is %s and not sent out',
    async (name) => {
      const t = talk(name);
      await t.send('go');
      expect(pendingToolCalls('c1', t.events)).toEqual([]);
      expect(t.pending.map((call) => pendingToolCallOf(call, 'c1'))).toEqual(
        t.pending.map(() => undefined),
      );
    },
  );

  it.each(['parallel', 'sequential'] as const)(
    'is the same from the events and from the waiting call, with %s calls',
    async (toolExecution) => {
      for (const name of ['sync', 'async', 'person', 'client']) {
        const t = talk(name, { toolExecution });
        await t.send('go');
        const [open] = t.pending;
        if (open === undefined) throw new Error('unreachable');
        expect(pendingToolCalls('c1', t.events)).toEqual([pendingToolCallOf(open, 'c1')]);
      }
    },
  );

  it('keeps to a moved deadline', async () => {
    const t = talk('sync');
    await t.send('go');
    t.extend('sync', { by: '1h' });
    expect(pendingToolCalls('c1', t.events)[0]?.expiresAt).toBe(t.pending[0]?.deadline);
  });
});

describe('the id of a run', () => {
  it('names a conversation and a turn, and no other text does', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9_.-]{1,40}$/);
    fc.assert(
      fc.property(id, id, (conversationId, turnId) => {
        expect(parseRunId(runIdOf(conversationId, turnId))).toEqual({ conversationId, turnId });
      }),
    );
    for (const text of [
      '',
      'a',
      ':',
      'a:',
      ':b',
      'a:b:c',
      'a/b:c',
      'a:b c',
      `${'a'.repeat(200)}:b`,
    ])
      expect(parseRunId(text)).toBeUndefined();
  });
});
