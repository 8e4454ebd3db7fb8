/** Claims and progress over HTTP: the body is the verdict, and the status follows from it. */
import { expect, test } from 'vitest';
import type { LeaseRenewal, LeasesPort } from '../../../src/client/ports/leases.js';
import type { CanonicalEvent, EventBody } from '../../../src/protocol/log/events.js';
import type { ToolProgress } from '../../../src/protocol/log/live-events.js';
import { noAnswer, refusal } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';
import { asks, stamped, started } from '../../support/samples/log-events.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

const PATH = '/v1/conversations/c1/tool-calls/call_1';
const ANN = { id: 'ann' };
const ACCEPTED = {
  verdict: 'accepted',
  toolCallId: 'call_1',
  claimId: 'claim_5_x',
  leaseUntil: '2030-01-01T00:05:00.000Z',
  seq: 5,
};

const CALL = { turnId: 't1', toolCallId: 'call_1' };
const CLAIMED: EventBody = {
  type: 'claimed',
  ...CALL,
  claimId: 'claim_5_x',
  leaseMs: 300_000,
  requestId: 'r',
  actor: { ...ANN, verified: false, channel: 'api' },
};

class FakeHolders implements LeasesPort {
  readonly renewals: LeaseRenewal[] = [];
  readonly shown: ToolProgress[] = [];
  until: string | undefined = '2030-01-01T00:09:00.000Z';

  renew(renewal: LeaseRenewal): Promise<string | undefined> {
    this.renewals.push(renewal);
    return Promise.resolve(this.until);
  }

  show(_key: object, progress: ToolProgress): void {
    this.shown.push(progress);
  }
}

function refuse(verdict: object): Promise<never> {
  return Promise.reject(refusal('verdict', verdict));
}

/** The events of a waiting call. */
function offered(streaming = true): readonly CanonicalEvent[] {
  return stamped([
    started(),
    ...asks('t1'),
    {
      type: 'suspension',
      suspension: {
        ...CALL,
        name: 'cart.read',
        executor: 'client',
        kind: 'client_execution',
        prompt: {},
        openedAt: '2030-01-01T00:00:00.000Z',
        deadline: '2030-01-02T00:00:00.000Z',
        ...(streaming ? { streaming } : {}),
      },
    },
  ]);
}

/** Adds a call that Ann has claimed. */
function held(app: HttpApp, streaming = true): void {
  app.reader.add('c1', [...offered(streaming), ...stamped([CLAIMED], { from: 5 })]);
}

test('a claim is an update with the claimant, and is answered with the claim', async () => {
  const app = await startHttpApp({ update: () => ACCEPTED });
  const body = { lease: '1 minute', actor: ANN };
  const response = await app.post(`${PATH}/claim`, body, { 'idempotency-key': 'k-1' });
  expect([response.status, await response.json()]).toEqual([
    200,
    { ...ACCEPTED, requestId: 'k-1' },
  ]);
  expect(app.calls).toMatchObject([
    {
      name: 'claimToolCall',
      input: { toolCallId: 'call_1', leaseMs: 60_000, requestId: 'k-1', actor: ANN },
    },
  ]);
  expect(app.calls[0]?.input).toHaveProperty('receivedAt');
});

test('a call claimed by another actor gets a verdict with the holder and the end of the lease', async () => {
  const verdict = { verdict: 'stale', why: 'held', by: 'ann', until: ACCEPTED.leaseUntil };
  const app = await startHttpApp({
    update: () => {
      throw refusal('verdict', verdict);
    },
  });
  const response = await app.post(`${PATH}/claim`, {});
  expect([response.status, await response.json()]).toMatchObject([409, verdict]);
});

test('a renewal moves the lease in the store, and goes to the conversation only when the store lacks the claim', async () => {
  const leases = new FakeHolders();
  const app = await startHttpApp({ update: () => ACCEPTED }, {}, { leases });
  const body = { claimId: 'claim_5_x', lease: 60_000, actor: ANN };
  const renewed = await app.post(`${PATH}/claim`, body);
  expect([renewed.status, await renewed.json()]).toMatchObject([
    200,
    { verdict: 'accepted', claimId: 'claim_5_x', leaseUntil: leases.until },
  ]);
  expect(leases.renewals).toMatchObject([{ holder: 'ann', claimId: 'claim_5_x', leaseMs: 60_000 }]);
  expect(app.calls).toEqual([]);
  leases.until = undefined;
  await app.post(`${PATH}/claim`, body);
  expect(app.calls).toMatchObject([{ name: 'claimToolCall', input: { claimId: 'claim_5_x' } }]);
});

test('a renewal may refuse to claim a call anew whose claim is over', async () => {
  const app = await startHttpApp({ update: () => ACCEPTED });
  await app.post(`${PATH}/claim`, { claimId: 'claim_5_x', renewOnly: true });
  expect(app.calls).toMatchObject([{ input: { claimId: 'claim_5_x', renewOnly: true } }]);
});

test.each<[string, object, string]>([
  ['a renewal without a claim', { renewOnly: true }, '/renewOnly'],
  ['a lease of a day', { lease: '1 day' }, '/lease'],
  ['a lease in an unknown format', { lease: 'long' }, '/lease'],
  ['a lease that is not a duration', { lease: true }, '/lease'],
  ['an unknown field', { leaseSeconds: 5 }, '/leaseSeconds'],
  ['an empty claim id', { claimId: '' }, '/claimId'],
])('a claim with %s is refused with the field', async (_title, body, path) => {
  const app = await startHttpApp();
  const response = await app.post(`${PATH}/claim`, body);
  const problem = (await response.json()) as { errors: { path: string }[] };
  expect([response.status, problem.errors[0]?.path]).toEqual([422, path]);
  expect(app.calls).toEqual([]);
});

test('an unconfirmed claim is a 503, and is not left as a signal', async () => {
  const app = await startHttpApp({
    update: () => {
      throw noAnswer();
    },
  });
  const response = await app.post(`${PATH}/claim`, {});
  expect([response.status, await response.json()]).toMatchObject([503, { code: 'no_worker' }]);
  expect(new Set(app.calls.map(({ kind }) => kind))).toEqual(new Set(['update', 'describe']));
});

test('pending calls show their claim holders', async () => {
  const app = await startHttpApp();
  held(app);
  const response = await app.request('/v1/conversations/c1/pending');
  expect(await response.json()).toMatchObject({
    pending: [{ toolCallId: 'call_1', claim: { by: 'ann', claimId: 'claim_5_x' } }],
  });
});

test('progress of the holder is shown, renews the lease, and reaches no workflow', async () => {
  const leases = new FakeHolders();
  const app = await startHttpApp({}, {}, { leases });
  held(app);
  const body = { payload: { percent: 40 }, claimId: 'claim_5_x', actor: ANN };
  const response = await app.post(`${PATH}/progress`, body);
  expect([response.status, await response.json()]).toEqual([
    200,
    { verdict: 'accepted', toolCallId: 'call_1', leaseUntil: leases.until },
  ]);
  expect(leases.shown).toEqual([
    {
      type: 'tool_progress',
      turnId: 't1',
      toolCallId: 'call_1',
      name: 'cart.read',
      payload: { percent: 40 },
    },
  ]);
  expect(app.calls).toEqual([]);
});

test('progress of another actor, of an ended call or of a tool without streaming is refused', {
  ...promise('S20', 'A16'),
}, async () => {
  const leases = new FakeHolders();
  const ended = { verdict: 'stale', why: 'already_resolved', status: 'resolved' };
  const app = await startHttpApp({ update: () => refuse(ended) }, {}, { leases });
  held(app, false);
  const body = { payload: 1, claimId: 'claim_5_x', actor: ANN };
  const plain = await app.post(`${PATH}/progress`, body);
  expect([plain.status, await plain.text()]).toMatchObject([
    422,
    expect.stringContaining('does not declare streaming'),
  ]);
  const gone = await app.post('/v1/conversations/c1/tool-calls/call_9/progress', body);
  expect([gone.status, await gone.json()]).toMatchObject([409, { why: 'not_waiting' }]);
  const nowhere = await app.post('/v1/conversations/c2/tool-calls/call_1/progress', body);
  expect(nowhere.status).toBe(404);
  const anonymous = await app.post(`${PATH}/progress`, { payload: 1 });
  expect(anonymous.status).toBe(422);
  const verdict = { verdict: 'stale', why: 'held', status: 'awaiting_client', by: 'ann' };
  const other = await startHttpApp({ update: () => refuse(verdict) }, {}, { leases });
  held(other);
  leases.until = undefined;
  const stranger = await other.post(`${PATH}/progress`, { ...body, actor: { id: 'eve' } });
  expect([stranger.status, await stranger.json()]).toMatchObject([
    409,
    { why: 'not_holder', by: 'ann' },
  ]);
  expect(leases.shown).toEqual([]);
});

test.each<[string, 'call' | 'claim' | 'row']>([
  ['the call', 'call'],
  ['the claim', 'claim'],
  ['the row of the lease', 'row'],
])(
  'progress of the holder counts while the store lacks %s: the conversation renews the lease',
  async (_title, lacks) => {
    const leases = new FakeHolders();
    leases.until = undefined;
    const events = [...offered(), ...stamped([CLAIMED], { from: 5 })];
    const had = { call: 1, claim: 4, row: 5 }[lacks];
    const app = await startHttpApp(
      {
        update: () => {
          // The store has caught up by the next read.
          app.reader.add('c1', events.slice(had));
          return ACCEPTED;
        },
      },
      {},
      { leases },
    );
    app.reader.add('c1', events.slice(0, had));
    const body = { payload: 7, claimId: 'claim_5_x', actor: ANN };
    const response = await app.post(`${PATH}/progress`, body);
    expect([response.status, await response.json()]).toEqual([
      200,
      { verdict: 'accepted', toolCallId: 'call_1', leaseUntil: ACCEPTED.leaseUntil },
    ]);
    expect(app.calls).toMatchObject([
      { name: 'claimToolCall', input: { claimId: 'claim_5_x', renewOnly: true, actor: ANN } },
    ]);
    expect(leases.shown).toMatchObject([{ toolCallId: 'call_1', payload: 7 }]);
    // The read after the reply is at least as new as the reply.
    expect(app.reader.asked.at(-1)).toBe(ACCEPTED.seq);
  },
);

test('consecutive reports of progress are one renewal in the history while the store lacks the lease', {
  ...promise('G79'),
}, async () => {
  const leases = new FakeHolders();
  leases.until = undefined;
  const leaseUntil = new Date(Date.now() + 300_000).toISOString();
  const app = await startHttpApp({ update: () => ({ ...ACCEPTED, leaseUntil }) }, {}, { leases });
  held(app);
  const report = (fields: object) =>
    app.post(`${PATH}/progress`, { payload: 1, claimId: 'claim_5_x', actor: ANN, ...fields });
  for (const payload of [1, 2, 3]) {
    const response = await report({ payload });
    expect([response.status, await response.json()]).toMatchObject([200, { leaseUntil }]);
  }
  expect(leases.shown).toMatchObject([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  expect(app.calls).toHaveLength(1);
  // Another actor is not taken for the holder.
  await report({ actor: { id: 'eve' } });
  await report({ claimId: 'claim_6_y' });
  expect(app.calls).toHaveLength(3);
  // Once the store has the lease, it is renewed there.
  leases.until = '2030-01-01T00:09:00.000Z';
  expect(await (await report({})).json()).toMatchObject({ leaseUntil: leases.until });
  expect(app.calls).toHaveLength(3);
});

test('a repeated claim returns the present end of its lease, and stays valid', {
  ...promise('G80'),
}, async () => {
  const leases = new FakeHolders();
  const duplicate = { verdict: 'duplicate', first: ACCEPTED };
  const app = await startHttpApp({ update: () => refuse(duplicate) }, {}, { leases });
  const repeated = { actor: ANN, requestId: 'r-1' };
  const again = async () => await (await app.post(`${PATH}/claim`, repeated)).json();
  expect(await again()).toMatchObject({
    verdict: 'duplicate',
    first: { ...ACCEPTED, leaseUntil: leases.until },
  });
  expect(leases.renewals).toMatchObject([{ claimId: 'claim_5_x', holder: 'ann' }]);
  leases.until = undefined;
  expect(await again()).toMatchObject(duplicate);
});

test('reads after a repeated claim show it, as after the first', async () => {
  const app = await startHttpApp({
    update: () => Promise.reject(refusal('verdict', { verdict: 'duplicate', first: ACCEPTED })),
  });
  held(app);
  const repeat = await app.post(`${PATH}/claim`, { actor: ANN, requestId: 'r-1' });
  expect([repeat.status, await repeat.json()]).toMatchObject([200, { verdict: 'duplicate' }]);
  await app.request('/v1/conversations/c1');
  expect(app.reader.asked.at(-1)).toBe(ACCEPTED.seq);
});
