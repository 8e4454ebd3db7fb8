/**
 * Every entry of the engine gets 3 MB, which exceeds every payload of Temporal: each entry refuses it with the field
 * and the bound, or cuts it with a marker, and the recorded size stays far below.
 */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkMessage, stampActor, transportProblems } from '../../../src/client/api/checks.js';
import { defineAgent, defineTool } from '../../../src/index.js';
import {
  MAX_MODEL_ANSWER_BYTES,
  MAX_TOOL_INPUT_BYTES,
} from '../../../src/protocol/limits/service-limits.js';
import { utf8Bytes } from '../../../src/protocol/values/json.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { actor, gatedCall, modelCalls, plannedCall } from '../../support/builders/core-builders.js';
import { takeInboxEvent } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';

const HUGE = 'x'.repeat(3_000_000);
const waits = (): MachineUnderTest =>
  aMachineWith(
    modelCalls([
      gatedCall('gated'),
      plannedCall('asked', { executor: 'human' }),
      plannedCall('shown', { executor: 'client', streaming: true }),
    ]),
  );

/** Each returns the reply to its sender. */
const ENTRIES: readonly (readonly [
  name: string,
  send: (m: MachineUnderTest) => unknown,
  reply: RegExp,
])[] = [
  [
    'a message',
    (m) => m.trySend(HUGE),
    /\/text.*must be at most 262144 bytes in UTF-8, got 3000000/,
  ],
  [
    'an event',
    ({ machine }) =>
      takeInboxEvent(machine, { eventId: 'e', kind: 'k', payload: HUGE, actor: actor('ann') }),
    /\/payload.*must be at most 262144 bytes/,
  ],
  [
    'an answer',
    (m) => m.resolve('asked', { type: 'answer', value: HUGE }),
    /\/resolution\/value.*at most 204800/,
  ],
  [
    'a result',
    (m) => m.resolve('shown', { type: 'result', value: HUGE }),
    /\/resolution\/value.*at most 204800/,
  ],
  ['an edit', (m) => m.resolve('gated', { type: 'approve', input: HUGE }), /\/resolution\/input/],
  [
    'a reason',
    (m) => m.resolve('gated', { type: 'deny', reason: HUGE }),
    /\/resolution\/reason.*must be at most 2000 characters, got 3000000/,
  ],
  [
    'an error text',
    (m) => m.resolve('shown', { type: 'error', message: HUGE }),
    /\/resolution\/message.*must be at most 2000 characters/,
  ],
  [
    'a request id',
    (m) => m.resolve('gated', { type: 'approve' }, { requestId: HUGE }),
    /\/requestId.*200/,
  ],
  [
    'a matcher of a remembered decision',
    (m) =>
      m.resolve('gated', {
        type: 'approve',
        remember: { for: 'conversation', match: { '/a': HUGE } },
      } as never),
    /\/resolution\/remember\/match/,
  ],
];

describe('3 MB of input', () => {
  it.each(ENTRIES)(
    '%s is refused by field and bound, and nothing of it is recorded',
    promise('G278'),
    (_name, send, reply) => {
      const m = waits();
      const before = JSON.stringify(m.state);
      expect(JSON.stringify(send(m))).toMatch(reply);
      expect(JSON.stringify(m.state)).toBe(before);
    },
  );

  it.each([
    ['a message', () => checkMessage({ text: HUGE }), '/text'],
    ['the name of an actor', () => stampActor({ id: 'a', name: HUGE }, 'client'), '/actor/name'],
    ['the id of an actor', () => stampActor({ id: HUGE }, 'client'), '/actor/id'],
    ['a role of an actor', () => stampActor({ id: 'a', roles: [HUGE] }, 'client'), '/actor/roles'],
  ])('%s does not leave the process of its sender', (_name, send, path) => {
    expect(send).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        problems: [expect.objectContaining({ path })],
      }),
    );
  });

  it('a resolution does not leave the process of its sender', () => {
    expect(transportProblems({ type: 'answer', value: HUGE })).toEqual([
      {
        path: '/resolution',
        message: expect.stringContaining('must be at most 204800 bytes') as string,
      },
    ]);
  });

  it('the id and the name of an actor that a signal names are cut', () => {
    const m = waits();
    m.resolve('gated', { type: 'approve' }, { actor: { id: HUGE, name: HUGE } });
    const { actor: by } = m.last('resolution');
    expect([by.id.length, by.name?.length]).toEqual([200, 200]);
  });
});

const bytesOf = (value: unknown): number => utf8Bytes(JSON.stringify(value));

function talkOf(
  model: ReturnType<typeof script>,
  run: (input: { text: string }) => unknown = () => 'ok',
) {
  const work = defineTool({
    name: 'work',
    description: 'd',
    input: z.object({ text: z.string() }),
    run,
  });
  const agent = defineAgent({ name: 'a', instructions: 'i', model, tools: [work] });
  return testConversation(agent);
}

async function endOf(t: ReturnType<typeof talkOf>, text: string): Promise<unknown> {
  await t.send(text);
  return t.events.findLast((event) => event.type === 'turn_ended');
}

describe('3 MB of a model or a tool', () => {
  it('as an answer fails the turn with the bound, and the next message goes on', async () => {
    const t = talkOf(script(says(HUGE), says('Fine.')));
    expect(await endOf(t, 'Tell me everything')).toMatchObject({
      status: 'failed',
      error: {
        code: 'model_answer_too_large',
        message: expect.stringMatching(/3000\d+ bytes; at most 1331200 fit/) as string,
      },
    });
    expect(bytesOf(t.events)).toBeLessThan(20_000);
    expect(await endOf(t, 'And briefly?')).toMatchObject({ status: 'completed', text: 'Fine.' });
  });

  it('as an answer of the largest size is accepted', async () => {
    const text = 'x'.repeat(MAX_MODEL_ANSWER_BYTES - 1_000);
    const t = talkOf(script(says(text)));
    const end = await endOf(t, 'go');
    expect(end).toMatchObject({ status: 'completed' });
    expect((end as { text: string }).text === text).toBe(true);
  });

  it('as arguments fail the turn; smaller ones that are still too large fail the call', {
    ...promise('G278'),
  }, async () => {
    const t = talkOf(script(calls('work', { text: HUGE }), says('done')));
    expect(await endOf(t, 'go')).toMatchObject({
      status: 'failed',
      error: { code: 'model_answer_too_large' },
    });
    const large = 'x'.repeat(MAX_TOOL_INPUT_BYTES);
    const u = talkOf(script(calls('work', { text: large }), says('done')));
    expect(await endOf(u, 'go')).toMatchObject({ status: 'completed', text: 'done' });
    expect(u.result('work')).toMatchObject({
      ok: false,
      error: {
        code: 'invalid_input',
        message: expect.stringContaining(
          `it has ${MAX_TOOL_INPUT_BYTES + 11} bytes; at most ${MAX_TOOL_INPUT_BYTES}`,
        ) as string,
      },
    });
  });

  it('as the error of a tool is cut', async () => {
    const t = talkOf(script(calls('work', { text: 'a' }), says('done')), () => {
      throw new Error(HUGE);
    });
    await t.send('go');
    expect(bytesOf(t.result('work'))).toBeLessThan(3_000);
  });
});
