/** Calls and agents that are passed as values instead of ids and names reach Temporal and the store as those. */
import { expect, it } from 'vitest';
import type { ListedBy } from '../../../../src/client/index.js';
import { stepIdFor } from '../../../../src/protocol/values/ids.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { CALL, TURN } from '../../../support/samples/sample-log.js';

const accepted = { verdict: 'accepted', toolCallId: CALL, seq: 6 };
const NAMED = { toolCallId: CALL, name: 'cart.read' };
const STEP = stepIdFor(TURN, 1);

it('a call with the name of its tool is answered by its id', async () => {
  const { conversation, calls } = setUp({ update: () => accepted });
  const outcome = await conversation.resolve(NAMED, { type: 'result', value: 1 });
  expect(outcome).toMatchObject(accepted);
  expect(calls[0]?.input).toMatchObject({ toolCallId: CALL, resolution: { value: 1 } });
});

it('a result of a step that is a value goes as its JSON text, beside results that are texts', async () => {
  const { conversation, calls } = setUp({ update: () => accepted });
  await conversation.resolveBatch(STEP, [
    { ...NAMED, result: { items: ['a'] }, executionMs: 5, claimId: 'claim-1' },
    { toolCallId: 'call_9', resultJson: '[1]' },
    { toolCallId: 'call_8', errorMessage: 'closed' },
  ]);
  expect(calls[0]?.input).toMatchObject({
    results: [
      { toolCallId: CALL, resultJson: '{"items":["a"]}', executionMs: 5, claimId: 'claim-1' },
      { toolCallId: 'call_9', resultJson: '[1]' },
      { toolCallId: 'call_8', errorMessage: 'closed' },
    ],
  });
  expect(JSON.stringify(calls[0]?.input)).not.toContain('cart.read');
});

it('a result of a step that is no JSON is refused before it is sent, with its place', async () => {
  const { conversation, calls } = setUp({ update: () => accepted });
  const results = [{ ...NAMED, result: 1n as never }];
  const error = await failureOf(conversation.resolveBatch(STEP, results));
  expect(error).toMatchObject({
    code: 'invalid_request',
    problems: [
      { path: '/results/0/result', message: 'must be plain JSON, at most 64 levels deep' },
    ],
  });
  const nothing = await failureOf(conversation.resolveBatch(STEP, [undefined as never]));
  expect(nothing.code).toBe('invalid_request');
  expect(calls).toEqual([]);
});

it('a list of the conversations of an agent is asked by its name', async () => {
  const asked: ListedBy[] = [];
  const list = async (options: ListedBy) => {
    asked.push(options);
    return { conversations: [] };
  };
  const reader = Object.assign(new FakeReader(), { list });
  const { client } = setUp({}, { reader });
  await client.list({ agent: { kind: 'agent', name: 'support' } });
  await client.list({ agent: 'support' });
  expect(asked).toMatchObject([{ agent: 'support' }, { agent: 'support' }]);
});
