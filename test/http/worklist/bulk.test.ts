/** `POST /v1/worklist/resolutions`: many answers, each with the verdict that it would have alone. */
import { describe, expect, it } from 'vitest';
import type { ResolveToolCallInput } from '../../../src/protocol/calls/resolutions.js';
import { MAX_BULK_RESOLUTIONS } from '../../../src/protocol/limits/service-limits.js';
import type { FakeCall } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const PATH = '/v1/worklist/resolutions';
const APPROVE = { type: 'approve' } as const;
const VERDICTS: Readonly<Record<string, object>> = {
  'c-ok': { verdict: 'accepted', seq: 7, status: 'approved' },
  'c-no': { verdict: 'forbidden', reason: 'the actor is not in the audience of this call' },
  'c-late': { verdict: 'stale', why: 'already_resolved', status: 'approved' },
  'c-over': { verdict: 'expired', deadline: '2026-01-01T00:00:00.000Z' },
  'c-bad': { verdict: 'invalid', problems: [{ path: '/resolution/value', message: 'is wrong' }] },
};

/** An API over conversations with these verdicts; others do not exist, and `c-down` cannot be reached. */
async function start() {
  const inputs: ResolveToolCallInput[] = [];
  let atOnce = 0;
  let most = 0;
  const update = async ({ workflowId, input }: FakeCall): Promise<unknown> => {
    const { toolCallId, ...rest } = input as ResolveToolCallInput;
    inputs.push({ toolCallId, ...rest });
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce -= 1;
    const id = workflowId.split(':').at(-1) ?? '';
    if (id === 'c-down') throw new Error('a defect');
    const verdict = VERDICTS[id];
    if (verdict !== undefined) return { ...verdict, toolCallId };
    const { WorkflowNotFoundError } = await import('@temporalio/client');
    throw new WorkflowNotFoundError('not found', workflowId, undefined);
  };
  const app = await startHttpApp({ update });
  const send = async (items: readonly object[], more: object = {}, headers = {}) => {
    const response = await app.post(PATH, { items, ...more }, headers);
    expect(response.status).toBe(200);
    const { results } = (await response.json()) as { results: readonly Record<string, unknown>[] };
    return results;
  };
  return { app, inputs, send, most: () => most };
}

const item = (conversationId: string, more: object = {}) => ({
  conversationId,
  toolCallId: 'call-1',
  resolution: APPROVE,
  ...more,
});

describe('answers to many calls', () => {
  it('have the verdict, in their order, that each has alone', promise('G352'), async () => {
    const { app, send } = await start();
    const ids = ['c-late', 'c-ok', 'c-none', 'c-no', 'c-over', 'c-bad', 'c-down'];
    const results = await send(ids.map((id) => item(id, { requestId: `r-${id}` })));
    for (const [index, id] of ids.entries()) {
      const alone = await app.post(`/v1/conversations/${id}/tool-calls/call-1/resolution`, {
        resolution: APPROVE,
        requestId: `r-${id}`,
      });
      const body = (await alone.json()) as object;
      const { httpStatus } = results[index] ?? {};
      expect([id, httpStatus]).toEqual([id, alone.status]);
      expect(results[index]).toEqual({
        conversationId: id,
        toolCallId: 'call-1',
        httpStatus,
        ...body,
      });
    }
    expect(results.map(({ httpStatus }) => httpStatus)).toEqual([
      409, 200, 404, 403, 410, 422, 500,
    ]);
  });

  it('are sent as one actor, each with its fields and the time at which the request came', async () => {
    const { inputs, send } = await start();
    const more = { argsDigest: 'sha256:1', claimId: 'claim-1' };
    await send([item('c-ok', more), item('c-no')], { actor: { id: 'bo', roles: ['lead'] } });
    const actor = { id: 'bo', roles: ['lead'], verified: false, channel: 'api' };
    expect(inputs).toMatchObject([{ ...more, actor, resolution: APPROVE }, { actor }]);
    expect(inputs[0]?.receivedAt).toBe(inputs[1]?.receivedAt);
  });

  it('have ids of their own: from the item, else from the key of the request and their place', {
    ...promise('G352'),
  }, async () => {
    const { inputs, send } = await start();
    const items = [item('c-ok'), item('c-no', { requestId: 'mine' }), item('c-late')];
    await send(items, {}, { 'idempotency-key': 'k' });
    await send(items, {}, { 'idempotency-key': 'k' });
    const ids = ['k:0', 'mine', 'k:2'];
    expect(inputs.map(({ requestId }) => requestId)).toEqual([...ids, ...ids]);
  });

  it('are judged at the same time, but those of one call in their order', async () => {
    const { inputs, send, most } = await start();
    const same = [1, 2, 3].map((n) => item('c-ok', { requestId: `r-${n}` }));
    const others = Array.from({ length: 60 }, (_, n) => item('c-ok', { toolCallId: `x-${n}` }));
    const results = await send([...same, ...others]);
    expect(results.map(({ toolCallId }) => toolCallId).slice(0, 4)).toEqual([
      ...['call-1', 'call-1', 'call-1', 'x-0'],
    ]);
    expect(most()).toBe(others.length + 1);
    const ofOne = inputs.filter(({ toolCallId }) => toolCallId === 'call-1');
    expect(ofOne.map(({ requestId }) => requestId)).toEqual(['r-1', 'r-2', 'r-3']);
  });

  it.each<[string, object, string]>([
    ['no items', {}, '/items'],
    ['an empty list', { items: [] }, '/items'],
    [
      'too many',
      { items: Array.from({ length: MAX_BULK_RESOLUTIONS + 1 }, () => item('c-ok')) },
      '/items',
    ],
    [
      'an item without a call',
      { items: [{ conversationId: 'c-ok', resolution: APPROVE }] },
      '/items/0/toolCallId',
    ],
    ['an id that is none', { items: [item('c-ok'), item('a b')] }, '/items/1/conversationId'],
    [
      'an unknown answer',
      { items: [item('c-ok', { resolution: { type: 'maybe' } })] },
      '/items/0/resolution/type',
    ],
    ['an actor of an item', { items: [item('c-ok', { actor: { id: 'x' } })] }, '/items/0/actor'],
  ])('are refused as a whole, and none is sent, for %s', promise('G352'), async (_, body, path) => {
    const { app, inputs } = await start();
    const problem = await problemOf(await app.post(PATH, body));
    expect(problem).toMatchObject({ status: 422, errors: [{ path }] });
    expect(inputs).toEqual([]);
  });

  it('refuse a key that has no room for their places', async () => {
    const { app, inputs } = await start();
    const headers = { 'idempotency-key': 'k'.repeat(255) };
    const response = await app.post(PATH, { items: [item('c-ok')] }, headers);
    expect(await problemOf(response)).toMatchObject({ errors: [{ path: 'Idempotency-Key' }] });
    expect(inputs).toEqual([]);
  });
});
