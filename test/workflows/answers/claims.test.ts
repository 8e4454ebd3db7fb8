/**
 * Claims on a real server: renewals cost no history, a call whose lease is lost is offered again, progress is shown and
 * never recorded.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ClaimOutcome } from '../../../src/client/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { PendingCall } from '../../../src/protocol/calls/suspensions.js';
import type { ToolProgress } from '../../../src/protocol/log/live-events.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const cart = defineTool({
  name: 'cart.read',
  description: 'Read the cart in the browser.',
  executor: 'client',
  input: z.object({}),
  streaming: true,
  timeouts: { answer: '30 minutes' },
});
const TAB = { actor: { id: 'ann' } };

async function offered(): Promise<{ engine: Engine; talk: ReturnType<Engine['begin']> }> {
  const model = script(calls('cart.read', {}), says('done'));
  const agent = defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [cart] });
  const engine = await startEngine({ agents: [agent], services: undefined });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'waiting', pending: [{ name: 'cart.read' }] });
  return { engine, talk };
}

function claimIdOf(outcome: ClaimOutcome): string {
  if (outcome.verdict !== 'accepted') throw new Error(`not claimed: ${outcome.verdict}`);
  return outcome.claimId;
}

const holderOf = async (engine: Engine, id: string): Promise<string> => {
  const pending = await engine.query<readonly PendingCall[]>(id, 'pending');
  return pending[0]?.claim?.by ?? 'nobody';
};

test('a claim that is renewed twenty times costs no history, and readers see its end move', {
  ...promise('G70'),
}, async () => {
  const { engine, talk } = await offered();
  const first = await talk.claim('call_1', { ...TAB, lease: '1 minute', requestId: 'r-1' });
  expect(first).toMatchObject({ verdict: 'accepted', httpStatus: 200 });
  const claimId = claimIdOf(first);
  expect(await talk.pending()).toMatchObject([{ claim: { by: 'ann', claimId } }]);
  const length = await engine.history.count(engine.workflowId(talk));
  let leaseUntil = '';
  for (let count = 0; count < 20; count += 1) {
    const renewed = await talk.claim('call_1', { ...TAB, claimId, lease: '5 minutes' });
    expect(renewed).toMatchObject({ verdict: 'accepted', claimId });
    expect(renewed).not.toHaveProperty('seq');
    if ('leaseUntil' in renewed) ({ leaseUntil } = renewed);
  }
  expect(await talk.pending()).toMatchObject([{ claim: { claimId, leaseUntil } }]);
  const other = { actor: { id: 'ann' }, requestId: 'other-tab' };
  expect(await talk.claim('call_1', other)).toMatchObject({ why: 'held', httpStatus: 409 });
  expect(await talk.claim('call_1', { ...TAB, requestId: 'r-1' })).toMatchObject({
    verdict: 'duplicate',
  });
  const answer = { type: 'result', value: 'mine' } as const;
  expect(await talk.resolve('call_1', answer, TAB)).toMatchObject({ why: 'not_holder' });
  expect(await engine.history.count(engine.workflowId(talk))).toBe(length);
  expect(await talk.resolve('call_1', answer, { ...TAB, claimId })).toMatchObject({
    verdict: 'accepted',
  });
  await engine.idle(talk);
  await engine.log(talk);
  expect(
    await engine.opened.log.callLeases({ tenant: 'default', conversationId: talk.id }),
  ).toEqual([]);
});

test('a lease that is not renewed is lost, and the call is offered again', {
  ...promise('G71'),
}, async () => {
  const { engine, talk } = await offered();
  // A claim by a plain Temporal update writes the same lease row, with the log.
  const plain = await engine.update<{ claimId: string }>(talk, 'claimToolCall', {
    toolCallId: 'call_1',
    actor: { id: 'ann' },
    leaseMs: 1_000,
  });
  await until('the lease is lost', () => holderOf(engine, talk.id), {
    holds: (holder) => holder === 'nobody',
  });
  expect((await engine.logTypes(talk)).slice(-3)).toEqual(['suspension', 'claimed', 'lease_lost']);
  const ben = { actor: { id: 'ben' } };
  const claimId = claimIdOf(await talk.claim('call_1', { ...ben, lease: '1h' }));
  const late = { actor: { id: 'ann' }, claimId: plain.claimId };
  const answer = { type: 'result', value: 'late' } as const;
  expect(await talk.resolve('call_1', answer, late)).toMatchObject({ why: 'not_holder' });
  await talk.resolve('call_1', { type: 'result', value: 'ben' }, { ...ben, claimId });
  await engine.idle(talk);
  const lost = { toolCallId: 'call_1', claimId: plain.claimId, seq: 99 };
  const length = await engine.history.count(engine.workflowId(talk));
  await expect(engine.update(talk, 'leaseLost', lost)).rejects.toMatchObject({
    cause: { type: 'verdict' },
  });
  expect(await engine.history.count(engine.workflowId(talk))).toBe(length);
});

test('a claim survives a roll-over, and is renewed by update when the client has no store', {
  ...promise('G71'),
}, async () => {
  const { engine, talk } = await offered();
  const claimId = claimIdOf(await talk.claim('call_1', { ...TAB, lease: '1h' }));
  await engine.signal(talk, 'rollOver');
  const runs = async (): Promise<number> =>
    (await engine.history.runs(engine.workflowId(talk))).length;
  await until('it rolled over', runs, { holds: (count) => count === 2 });
  expect(await talk.pending()).toMatchObject([{ claim: { by: 'ann', claimId } }]);
  const bare = engine.bareClient.conversation(talk.id);
  expect(await bare.claim('call_1', { ...TAB, claimId })).toMatchObject({
    verdict: 'accepted',
    claimId,
    seq: (await engine.snapshot(talk)).seq,
  });
  expect((await engine.log(talk)).at(-1)).toMatchObject({ type: 'claimed', renewal: true });
  await expect(bare.progress('call_1', 1, { ...TAB, claimId })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  const answer = { type: 'result', value: 1 } as const;
  expect(await talk.resolve('call_1', answer, { ...TAB, claimId })).toMatchObject({
    verdict: 'accepted',
  });
});

test('progress of the claim holder reaches watchers, renews the lease, and is never recorded', {
  ...promise('G72', 'S20', 'A16'),
}, async () => {
  const { engine, talk } = await offered();
  const claimId = claimIdOf(await talk.claim('call_1', { ...TAB, lease: '1h' }));
  const [before] = await talk.pending();
  const length = await engine.history.count(engine.workflowId(talk));
  const left = new AbortController();
  const seen: ToolProgress[] = [];
  const watching = (async () => {
    for await (const frame of talk.subscribe({ signal: left.signal }))
      if (frame.type === 'live' && frame.event.type === 'tool_progress') seen.push(frame.event);
  })();
  const key = { tenant: 'default', conversationId: talk.id };
  await until('the watcher is connected', () => engine.opened.live.watched(key)?.live === true);
  const outcome = await talk.progress('call_1', { percent: 40 }, { ...TAB, claimId });
  expect(outcome).toMatchObject({ verdict: 'accepted', httpStatus: 200 });
  await until('the report is seen', () => seen.length > 0);
  expect(seen).toMatchObject([
    { toolCallId: 'call_1', name: 'cart.read', payload: { percent: 40 } },
  ]);
  const [after] = await talk.pending();
  expect((after?.claim?.leaseUntil ?? '') > (before?.claim?.leaseUntil ?? '')).toBe(true);
  for (const [id, options, what] of [
    ['call_1', { actor: { id: 'eve' }, claimId }, { why: 'not_holder', httpStatus: 409 }],
    ['call_1', { ...TAB, claimId: 'claim_0' }, { why: 'not_holder', httpStatus: 409 }],
    ['call_9', { ...TAB, claimId }, { why: 'not_waiting', httpStatus: 409 }],
  ] as const)
    expect(await talk.progress(id, 1, options)).toMatchObject(what);
  expect(await talk.progress('call_1', 'x'.repeat(17_000), { ...TAB, claimId })).toMatchObject({
    verdict: 'invalid',
    problems: [{ path: '/payload' }],
  });
  expect(seen).toHaveLength(1);
  expect(await engine.history.count(engine.workflowId(talk))).toBe(length);
  left.abort();
  await watching;
});
