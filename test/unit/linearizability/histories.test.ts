/** Histories for `npm run check:verdicts`: what is sent, how a reply is read, and what the log says. */
import type { CanonicalEvent } from 'colloquy/client';
import { describe, expect, it } from 'vitest';
import { drawRequest, type Player } from '../../linearizability/draws.js';
import { canonical, entryOf, type Input, KINDS } from '../../linearizability/history.js';
import { outcomeOf, requestOf } from '../../linearizability/requests.js';
import { Dice } from '../../support/dice.js';

const AT = { toolCallId: 'call_1', turnId: 'turn_a' };

describe('the reply to a request of a history', () => {
  it.each([
    ['a verdict', 200, { verdict: 'accepted', seq: 4 }, { verdict: 'accepted', seq: 4 }],
    [
      'a duplicate has the fields of the first verdict',
      200,
      { verdict: 'duplicate', first: { verdict: 'accepted', claimId: 'c', seq: 4 }, seq: 9 },
      { verdict: 'duplicate', claimId: 'c', seq: 4 },
    ],
    [
      'a deadline in milliseconds',
      200,
      { verdict: 'accepted', seq: 4, deadline: '1970-01-01T00:00:01.500Z' },
      { verdict: 'accepted', seq: 4, deadlineMs: 1_500 },
    ],
    [
      'a cancel',
      200,
      { status: 'done', cancelled: true, seq: 4 },
      { verdict: 'cancelled', seq: 4 },
    ],
    ['a cancel without effect', 200, { status: 'done', cancelled: false }, 'nothing_to_cancel'],
    ['an answer that was left as a signal', 202, { verdict: 'queued' }, 'unknown'],
    ['a cancel that was left as a signal', 202, { status: 'queued' }, 'unknown'],
    ['a failure of the server', 503, { code: 'no_worker' }, 'unknown'],
    ['a limit of the API', 429, { code: 'rate_limited' }, 'refused'],
    ['a refusal that has no verdict', 404, { code: 'not_found' }, { verdict: 'not_found' }],
  ])('%s', (_name, status, body, outcome) => {
    const read = outcomeOf(status, body);
    if (outcome === 'nothing_to_cancel') expect(read).toMatchObject({ verdict: outcome });
    else if (typeof outcome === 'string') expect(read).toBe(outcome);
    else expect(read).toMatchObject(outcome);
  });
});

describe('the requests of a client', () => {
  it('are the same for the same seed, of every kind of call and operation', () => {
    const drawn = (): readonly Input[] => KINDS.flatMap((kind) => drawMany(kind));
    const inputs = drawn();
    expect(drawn()).toEqual(inputs);
    expect(new Set(inputs.map(({ op }) => op))).toEqual(new Set(['resolve', 'claim', 'extend']));
    expect(inputs.some(({ misfit }) => misfit === true)).toBe(true);
    expect(inputs.some(({ requestId }) => requestId === undefined)).toBe(true);
  });

  it('claim no approval and no question', () => {
    for (const kind of ['approval', 'question'] as const)
      expect(drawMany(kind).map(({ op }) => op)).not.toContain('claim');
  });

  it('carry the fields of their route', () => {
    const common = { actor: 'ann', requestId: 'r' };
    const resolve: Input = {
      op: 'resolve',
      content: '{"type":"approve"}',
      claimId: 'c',
      ...common,
    };
    expect(requestOf(resolve, AT)).toEqual({
      path: '/tool-calls/call_1/resolution',
      body: {
        ...{ actor: { id: 'ann' }, requestId: 'r' },
        ...{ resolution: { type: 'approve' }, claimId: 'c' },
      },
    });
    expect(requestOf({ op: 'cancel', actor: 'ann' }, AT)).toEqual({
      path: '/cancel',
      body: { actor: { id: 'ann' }, turnId: 'turn_a' },
    });
  });
});

function drawMany(kind: Player['kind']): readonly Input[] {
  const dice = new Dice(3);
  const sent: Input[] = [];
  const player = { client: 1, actor: 'bob', kind, deadlineMs: 0, isEager: true, sent };
  for (let step = 0; step < 200; step += 1) {
    const claimId = step % 2 === 0 ? undefined : 'claim_1';
    sent.push(drawRequest(dice, { ...player, claimId }, step % 5));
  }
  return sent;
}

describe('an event of the log', () => {
  const actor = { id: 'ann', verified: true, channel: 'api' } as const;
  const common = {
    seq: 7,
    at: '2026-01-01T00:00:00.000Z',
    turnId: 'turn_a',
    requestId: 'r',
    actor,
  };

  it('is an entry of its own call only, and a cancel of every call', () => {
    const event: CanonicalEvent = {
      ...{ ...common, type: 'resolution', kind: 'approval', toolCallId: 'call_1' },
      resolution: { type: 'approve' },
    };
    const content = canonical({ type: 'approve' });
    expect(entryOf(event, 'call_1')).toEqual({
      ...{ kind: 'resolution', seq: 7, requestId: 'r', actor: 'ann', content },
    });
    expect(entryOf(event, 'call_2')).toBeUndefined();
    expect(entryOf({ ...common, type: 'cancel_requested' }, 'call_2')).toEqual({
      ...{ kind: 'cancel', seq: 7, requestId: 'r', actor: 'ann' },
    });
  });

  it('has its resolution as JSON with sorted keys', () => {
    expect(canonical({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  });
});
