/** Members of a space, and no other callers, answer the calls that it shows, within what each call allows. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { hsafaToolbox, hsafaTools, memoryToolDocuments } from '../../../src/compat/hsafa/index.js';
import { defineTool } from '../../../src/index.js';
import { callsAll, says } from '../../../src/model/scripted/scripted.js';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { answeringRoom, answeringRoomWith } from '../../support/spaces/answering-room.js';
import { DESK } from '../../support/spaces/room-of-agent.js';

const ENTER = { name: 'enter_space', input: { spaceId: DESK } };
const YES = { type: 'answer', value: { confirmed: true } };
const metadata = { visible: true };
const input = z.object({});

const { tools: DOCUMENTS } = hsafaTools([
  {
    ...{ name: 'confirm', description: 'Ask', executionType: 'space', isAsync: true },
    inputSchema: { type: 'object' },
  },
  {
    ...{ name: 'fetchData', description: 'Get', executionType: 'external', isAsync: true },
    inputSchema: { type: 'object' },
  },
  {
    ...{ name: 'pick', description: 'Pick', executionType: 'space', timeout: 10_000 },
    inputSchema: { type: 'object' },
  },
]);

const refund = (approvers: object) =>
  defineTool({
    ...{ name: 'refund', description: 'Pay', input, metadata, ...approvers },
    run: () => ({ paid: true }),
  });

async function asking(...names: readonly string[]) {
  const tools = [
    ...DOCUMENTS,
    refund({ approval: 'required' }),
    defineTool({
      ...{ name: 'payout', description: 'Pay', input, metadata },
      approval: { ask: { audience: { roles: ['lead'] } } },
      run: () => ({ paid: true }),
    }),
    defineTool({
      ...{ name: 'locate', description: 'Locate', input, metadata, executor: 'client' },
    }),
  ];
  const room = await answeringRoom(
    tools,
    callsAll([ENTER, ...names.map((name) => ({ name, input: {} }))]),
    says('asked'),
    says('done'),
    says('done'),
  );
  await room.t.send('Go');
  const answer = async (
    who: string,
    tool: string,
    body: object,
    headers: Record<string, string> = {},
  ) => {
    const response = await room.as(who).post(await room.pathOf(tool), body, headers);
    return [response.status, await response.json()];
  };
  return { ...room, answer };
}

it(
  'a member answers a call that the space shows, without the right to answer; log and message say so',
  promise('H17', 'H29', 'H46', 'H53', 'G371'),
  async () => {
    const { t, answer, shown } = await asking('confirm');
    expect(await shown('confirm')).toMatchObject({
      ...{ kind: 'tool', status: 'requires_action' },
      metadata: { toolName: 'confirm', executor: 'human', waitsFor: 'elicitation' },
    });
    expect(await answer('bob', 'confirm', YES)).toMatchObject([200, { verdict: 'accepted' }]);
    const [resolution] = t.events.filter(({ type }) => type === 'resolution');
    expect(resolution).toMatchObject({ resolution: YES, actor: { id: 'bob', name: 'Bob' } });
    expect(await shown('confirm')).toMatchObject({
      status: 'complete',
      metadata: { output: { confirmed: true } },
    });
    expect((await shown('confirm')).metadata).not.toHaveProperty('waitsFor');
  },
);

it.each(['the worker that made the call', 'another worker'])(
  'documents that are put at run time are shown and answered as others, by %s',
  promise('H17', 'H53', 'G371'),
  async (worker) => {
    const toolbox = hsafaToolbox(memoryToolDocuments());
    const inputSchema = { type: 'object' };
    // No definition of the agent has them; it has a tool that is not visible.
    for (const document of [
      { name: 'confirmLater', description: 'Ask', inputSchema, executionType: 'space' },
      { name: 'fetchLater', description: 'Get', inputSchema, executionType: 'external' },
      {
        ...{ name: 'drawLater', description: 'Draw', inputSchema },
        ...{ executionType: 'internal', visible: true },
      },
      { name: 'hiddenLater', description: 'Keep', inputSchema, executionType: 'internal' },
    ])
      await toolbox.put({ tenant: 'default', agent: 'bot' }, document);
    const room = await answeringRoomWith(
      { tools: [], plugins: [toolbox.plugin] },
      callsAll([
        ENTER,
        ...['hiddenLater', 'drawLater', 'confirmLater', 'fetchLater'].map((name) => ({
          ...{ name, input: { of: name } },
        })),
      ]),
      says('Archived.'),
    );
    const { t, as, shown, pathOf, stored, replaceWorker } = room;
    const between = async (): Promise<void> => {
      await stored();
      if (worker === 'another worker') replaceWorker();
    };
    await t.send('Go');
    await between();
    expect(await shown('drawLater')).toMatchObject({
      status: 'complete',
      metadata: { output: { success: true, args: { of: 'drawLater' } } },
    });
    expect(await shown('confirmLater')).toMatchObject({
      status: 'requires_action',
      metadata: { executor: 'human', waitsFor: 'elicitation', input: { of: 'confirmLater' } },
    });
    await expect(shown('hiddenLater')).rejects.toThrow('no message shows a call');
    const response = await as('bob').post(await pathOf('confirmLater'), { resolution: YES });
    expect(response.status).toBe(200);
    await between();
    expect(await shown('confirmLater')).toMatchObject({
      status: 'complete',
      metadata: { output: { confirmed: true } },
    });
    expect(await shown('fetchLater')).toMatchObject({
      status: 'requires_action',
      metadata: { executor: 'external', waitsFor: 'external_execution' },
    });
    await between();
    await t.resolve('fetchLater', { type: 'result', value: { rows: 3 } });
    expect(await shown('fetchLater')).toMatchObject({
      status: 'complete',
      metadata: { output: { rows: 3 } },
    });
    expect(t.text).toBe('Archived.');
  },
);

it('of two answers one counts, and a repeat has its verdict', promise('H17', 'G371'), async () => {
  const { t, answer } = await asking('confirm');
  const key = { 'idempotency-key': 'k1' };
  const first = await answer('bob', 'confirm', { resolution: YES }, key);
  expect(first).toMatchObject([200, { verdict: 'accepted', requestId: 'k1' }]);
  expect(await answer('bob', 'confirm', { resolution: YES }, key)).toMatchObject([
    200,
    { verdict: 'duplicate', first: { verdict: 'accepted' }, requestId: 'k1' },
  ]);
  const no = { type: 'answer', value: { confirmed: false } };
  const stale = { verdict: 'stale', why: 'already_resolved', by: 'bob' };
  expect(await answer('ann', 'confirm', no)).toMatchObject([409, stale]);
  expect(t.events.filter(({ type }) => type === 'resolution')).toHaveLength(1);
});

it('an answer after the deadline is too late', promise('H17'), async () => {
  const { t, answer, shown } = await asking('refund');
  await t.advance('25 hours');
  const late = await answer('bob', 'refund', { type: 'approve' });
  expect(late).toMatchObject([410, { verdict: 'expired' }]);
  expect(await shown('refund')).toMatchObject({ status: 'error' });
  // A tool that takes late results has the answer as new input.
  const picks = await asking('pick');
  await picks.t.advance('11 seconds');
  const taken = await picks.answer('bob', 'pick', YES);
  expect(taken).toMatchObject([200, { verdict: 'accepted_late' }]);
});

it(
  'callers that are no members, that have left, and of other tenants find no call',
  promise('H17', 'G365', 'G371'),
  async () => {
    const { t, as, answer, path } = await asking('confirm');
    for (const who of ['eve', 'other', 'other-admin'])
      expect([who, ...(await answer(who, 'confirm', YES))]).toMatchObject([
        who,
        404,
        { code: 'unknown_space' },
      ]);
    expect(await answer('admin', 'confirm', YES)).toMatchObject([403, { code: 'forbidden' }]);
    await as('bob').request(`${path}/members/person/bob`, { method: 'DELETE' });
    expect(await answer('bob', 'confirm', YES)).toMatchObject([404, { code: 'unknown_space' }]);
    // An admin answers as the member that it names, and no other.
    const named = { resolution: YES, actor: { id: 'eve' } };
    expect(await answer('admin', 'confirm', named)).toMatchObject([403, { code: 'forbidden' }]);
    expect(await answer('ann', 'confirm', { ...named, actor: { id: 'bob' } })).toMatchObject([
      422,
      { verdict: 'invalid', problems: [{ path: '/actor' }] },
    ]);
    expect(t.events.filter(({ type }) => type === 'resolution')).toEqual([]);
  },
);

it(
  'a message of another space, a text, and an unknown message are no call of this one',
  promise('H17', 'G371'),
  async () => {
    const { as, path, shown, t } = await asking('confirm');
    const ann = as('ann');
    const { id } = await shown('confirm');
    const other = await ann.created({ name: 'Other' });
    const text = await ann.posted(`${path}/messages`, { text: 'Hi' }, 201);
    const unknown = { verdict: 'unknown', what: 'tool_call' };
    for (const place of [
      `/v1/spaces/${other.id}/messages/${id}`,
      `${path}/messages/${String(text['id'])}`,
      `${path}/messages/msg_none`,
      `${path}/messages/${encodeURIComponent('../\0')}`,
    ]) {
      const response = await ann.post(`${place}/resolution`, YES);
      expect([place, response.status, await response.json()]).toEqual([place, 404, unknown]);
    }
    expect(t.events.filter(({ type }) => type === 'resolution')).toEqual([]);
  },
);

it(
  'membership opens no approval that names its approvers, and no result of another backend',
  promise('H17', 'G371'),
  async () => {
    const { t, answer } = await asking('refund', 'payout');
    expect(await answer('bob', 'refund', { type: 'approve' })).toMatchObject([
      200,
      { verdict: 'accepted' },
    ]);
    expect(await answer('bob', 'payout', { type: 'approve' })).toMatchObject([
      403,
      { verdict: 'forbidden', reason: 'the actor is not in the audience of this call' },
    ]);
    expect(t.snapshot.pending.map(({ name }) => name)).toEqual(['payout']);
    const external = await asking('fetchData');
    for (const body of [
      { type: 'result', value: { price: 1 } },
      { type: 'error', message: 'no' },
    ])
      expect(await external.answer('bob', 'fetchData', body)).toMatchObject([
        403,
        { verdict: 'forbidden' },
      ]);
    expect(external.t.snapshot.pending).toHaveLength(1);
  },
);

it('a member submits the result of a call that a page runs', promise('H17'), async () => {
  const { answer, shown } = await asking('locate');
  expect((await shown('locate')).metadata).toMatchObject({ waitsFor: 'client_execution' });
  const verdict = await answer('bob', 'locate', { type: 'result', value: { city: 'Oslo' } });
  expect(verdict).toMatchObject([200, { verdict: 'accepted' }]);
  expect(await shown('locate')).toMatchObject({ status: 'complete' });
});

it.each([
  [{ type: 'outcome', value: 1 }, '/type'],
  [{ resolution: { type: 'outcome', value: 1 } }, '/resolution/type'],
  [{ type: 'approve', remember: { for: 'conversation' } }, '/remember'],
  [{ type: 'shout' }, '/type'],
  [{ resolution: YES, extra: 1 }, '/extra'],
])('refuses the answer %j and names the field', promise('H17'), async (body, at) => {
  const { as, pathOf } = await asking('confirm');
  const response = await as('bob').post(await pathOf('confirm'), body);
  expect(await problemOf(response)).toMatchObject({
    ...{ status: 422, verdict: 'invalid' },
    problems: [{ path: at }],
  });
});

it('an answer that the call does not take leaves it open', promise('H17'), async () => {
  const { t, answer } = await asking('refund');
  expect(await answer('bob', 'refund', YES)).toMatchObject([409, { verdict: 'stale' }]);
  const argsDigest = 'another input';
  const approve = { resolution: { type: 'approve' }, argsDigest };
  expect(await answer('bob', 'refund', approve)).toMatchObject([422, { verdict: 'invalid' }]);
  expect(t.snapshot.pending).toHaveLength(1);
});
