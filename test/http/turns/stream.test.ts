/** The stream of one turn over HTTP, on a store. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Identity } from '../../../src/http/identity/identity.js';
import type { AppDeps } from '../../../src/http/request/deps.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { StreamReader } from '../../support/networks/stream-reader.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { answers, turn } from '../../support/samples/log-events.js';
import { problemOf } from '../../support/samples/problems.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import {
  BEGUN,
  delta,
  FIRST,
  OF_FIRST,
  OF_SECOND,
  REST,
  SECOND,
  storedTurns,
} from '../../support/turns/stored-turns.js';
import { until } from '../../support/until.js';

const ANN: Identity = { ...TESTING, tenants: ['acme'], rights: ['read'] };

class Reader extends StreamReader {
  get places(): readonly string[] {
    return this.messages.map(({ id, event = '' }) => (id === undefined ? event : `${id} ${event}`));
  }

  protected take(): void {
    // The messages are kept.
  }
}

async function served(
  identity: Partial<Identity> = {},
  deps: Pick<Partial<AppDeps>, 'heartbeatMs' | 'limits'> = {},
) {
  const stored = await storedTurns();
  const app = await startHttpApp(
    {},
    { reader: stored.reader, identify: () => ({ ...ANN, ...identity }), ...deps },
    { reader: stored.reader },
  );
  const open = (turnId: string, { query = '', lastId = '' } = {}) => {
    const reader = new Reader(() => `${app.server.url}/v1/turns/${turnId}/stream${query}`);
    if (lastId !== '') reader.lastId = lastId;
    const over = reader.read();
    onTestFinished(() => {
      reader.cut();
    });
    return { reader, over };
  };
  return { ...stored, app, open };
}

describe('GET /v1/turns/{turnId}/stream', () => {
  it('has the turn from its first event to its last, and ends', promise('G416'), async () => {
    const { store, open, app } = await served();
    await store(...BEGUN, ...REST, ...turn('turn_a_3'));
    for (const [turnId, expected] of [[FIRST, OF_FIRST] as const, [SECOND, OF_SECOND] as const]) {
      const { reader, over } = open(turnId);
      await over;
      expect(reader.places).toEqual(expected);
      expect(reader.retry).toBe(2_000);
      expect(JSON.parse(reader.messages.at(-1)?.data ?? '')).toMatchObject({ turnId, text: 'hi' });
    }
    const { headers } = await app.request(`/v1/turns/${FIRST}/stream`, { method: 'HEAD' });
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
  });

  it(
    'follows a turn that goes on, with its live events, which have no id',
    promise('G416'),
    async () => {
      const { store, open, says, isWatched } = await served();
      await store(...BEGUN);
      const { reader, over } = open(FIRST);
      await until('it has begun', () => reader.places.length === 2 && isWatched());
      says(delta(FIRST, 'h'));
      await until('the text', () => reader.places.includes('live.text_delta'));
      says(delta(SECOND, 'no'));
      await store(...REST);
      await over;
      expect(reader.places).toEqual([
        ...OF_FIRST.slice(0, 2),
        'live.text_delta',
        ...OF_FIRST.slice(2),
      ]);
    },
  );

  it('goes on after each cut, without a gap or a repeat', promise('G416'), async () => {
    const { store, open } = await served();
    const heard: string[] = [];
    let lastId = '';
    for (const body of [...BEGUN, ...REST] satisfies EventBody[]) {
      await store(body);
      if (heard.length === 0 && body !== BEGUN[2]) continue;
      const isOfIt = 'turnId' in body && body.turnId === SECOND;
      const { reader, over } = open(SECOND, { lastId });
      await until('it is open', () => reader.status === 200);
      if (isOfIt) await until('it has the event', () => reader.places.length === 1);
      heard.push(...reader.places);
      lastId = reader.lastId ?? '';
      reader.cut();
      await over;
    }
    expect(heard).toEqual(OF_SECOND);
    // Behind the end nothing is left, and a browser does not come again.
    const behind = open(SECOND, { lastId });
    await behind.over;
    expect(behind.reader.status).toBe(204);
    // The header is newer than the address.
    const both = open(SECOND, { query: '?after=1-8', lastId: '1-10' });
    await both.over;
    expect(both.reader.places).toEqual(OF_SECOND.slice(4));
    const address = open(SECOND, { query: '?after=1-8' });
    await address.over;
    expect(address.reader.places).toEqual(OF_SECOND.slice(2));
  });

  it('says that the log was rewritten, and is unknown where the new one has no such turn', async () => {
    const { store, open, rewrite, app } = await served();
    await store(...BEGUN);
    const { reader, over } = open(FIRST);
    await until('it has begun', () => reader.places.length === 2);
    await rewrite(...turn('turn_b_1'));
    await over;
    expect(reader.places.at(-1)).toBe('2-0 log_rewritten');
    const again = await app.request(`/v1/turns/${FIRST}/stream`);
    expect(await problemOf(again)).toMatchObject({ status: 404, code: 'unknown_turn' });
  });

  it(
    'waits for a turn that comes in a later batch of a log which is rewritten',
    promise('G416'),
    async () => {
      const { store, open, rewrite, reader: stored } = await served();
      await store(...BEGUN);
      await rewrite(...turn('turn_b_1'));
      const placed = vi.spyOn(stored, 'turnEvents');
      const { reader, over } = open(FIRST, { lastId: '1-3' });
      await until('it is looked for', () => placed.mock.calls.length > 0);
      await store(...turn(FIRST));
      await over;
      expect([reader.places.at(0), reader.places.at(-1)]).toEqual([
        ...['2-0 log_rewritten', '2-11 turn_ended'],
      ]);
    },
  );

  it('has the turn of the fork for a caller that is bound to one', promise('G416'), async () => {
    const bound: { conversation?: string } = {};
    const { store, open, fork, app } = await served(bound);
    await store(...BEGUN.slice(0, 2));
    const text = 'of the fork';
    await fork('fork-b', ...answers(FIRST, text));
    await fork('fork-a', ...answers(FIRST, 'of another'));
    await store(...answers(FIRST, 'of the origin'));
    for (const [conversation, said] of [
      [undefined, 'of the origin'],
      ['fork-b', text],
    ] as const) {
      if (conversation !== undefined) bound.conversation = conversation;
      const { reader, over } = open(FIRST);
      await over;
      expect(JSON.parse(reader.messages.at(-1)?.data ?? '')).toMatchObject({ text: said });
      const result = await app.request(`/v1/turns/${FIRST}`);
      expect(await result.json()).toMatchObject({ text: said });
    }
  });

  it('counts among the streams of a caller before it reads the turn', async () => {
    const { store, app, reader: stored } = await served({}, { limits: { streams: 0 } });
    await store(...BEGUN);
    const placed = vi.spyOn(stored, 'turnEvents');
    const response = await app.request(`/v1/turns/${FIRST}/stream`);
    expect(await problemOf(response)).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(placed).not.toHaveBeenCalled();
  });

  it('is alive while nothing happens', async () => {
    const { store, app } = await served({}, { heartbeatMs: 5 });
    await store(...BEGUN);
    const leaving = new AbortController();
    const { body } = await app.request(`/v1/turns/${FIRST}/stream`, { signal: leaving.signal });
    let text = '';
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.endsWith(': ping\n\n')) break;
    }
    leaving.abort();
  });

  it.each<[string, Partial<Identity>, number, string]>([
    ['of another tenant', { tenants: ['beta'] }, 404, 'unknown_turn'],
    ['of no tenant', { tenants: [] }, 404, 'unknown_turn'],
    ['bound to another conversation', { conversation: 'elsewhere' }, 404, 'unknown_turn'],
    ['without the right to read', { rights: ['answer', 'send'] }, 403, 'forbidden'],
  ])('refuses a caller %s', promise('G416'), async (_words, identity, status, code) => {
    const { store, app } = await served(identity);
    await store(...BEGUN, ...REST);
    const response = await app.request(`/v1/turns/${FIRST}/stream`);
    expect(await problemOf(response)).toMatchObject({ status, code });
  });

  it('serves a caller that is bound to its conversation', async () => {
    const { store, open } = await served({ conversation: 'talk' });
    await store(...BEGUN, ...REST);
    const { reader, over } = open(FIRST);
    await over;
    expect(reader.places).toEqual(OF_FIRST);
  });

  it.each(['x', '1', '0-1', '1-2-3'])('refuses the place %j', async (place) => {
    const { store, app } = await served();
    await store(...BEGUN, ...REST);
    const path = `/v1/turns/${FIRST}/stream`;
    const named = await app.request(`${path}?after=${place}`);
    expect(await problemOf(named)).toMatchObject({ status: 422, code: 'invalid_request' });
    const header = await app.request(path, { headers: { 'last-event-id': place } });
    expect(await problemOf(header)).toMatchObject({ status: 422, code: 'invalid_request' });
  });
});
