/** The stream of one run over HTTP, on a store: what belongs to the run, and no more, also over cuts. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { type ConversationClient, ConversationError } from '../../../../src/client/index.js';
import {
  type CallerIdentity,
  type RunsClient,
  runIdOf,
} from '../../../../src/compat/hsafa/index.js';
import { createStoreReader } from '../../../../src/projection/reading/store-reader.js';
import { type EventBody, turnIdOf } from '../../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../../src/protocol/log/live-events.js';
import { createLocalLiveChannel } from '../../../../src/store/live/local.js';
import { servedRoutes } from '../../../support/compat/hsafa-routes.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { promise } from '../../../support/promise.js';
import { answers, asks, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';

const KEY = { tenant: 'acme', conversationId: 'talk' };
const READER: Partial<CallerIdentity> = { rights: ['read'] };

/** A conversation of a store: its client, and how more of it is stored. */
async function talk() {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const live = createLocalLiveChannel();
  const reader = createStoreReader({ log, live, source: 'none' });
  const client: RunsClient = {
    conversation: (conversationId, { tenant }) => {
      const key = { tenant, conversationId };
      const known = async <Value>(read: Promise<Value | undefined>): Promise<Value> => {
        const value = await read;
        if (value === undefined) throw new ConversationError('unknown_conversation', 'None');
        return value;
      };
      return {
        snapshot: async () => await known(reader.snapshot(key)),
        events: async (options) => await known(reader.events(key, { ...options, limit: 3 })),
        subscribe: (options) => reader.watch(key, options),
      };
    },
  };
  const append = async (events: ReturnType<typeof stamped>, runId = 'r') => {
    const result = await log.append({ ...KEY, runId, events });
    if (!('head' in result)) throw new Error(result.outcome);
    const { generation, lastSeq } = result.head;
    live.publish({ type: 'appended', ...KEY, generation, lastSeq });
  };
  let next = 1;
  const store = async (...bodies: readonly EventBody[]) => {
    await append(stamped(bodies, { from: next }));
    next += bodies.length;
  };
  const says = (event: LiveEvent) => {
    live.publish({ type: 'live', ...KEY, event });
  };
  await store(started(KEY));
  const base = await servedRoutes({ client, identity: READER });
  return { base, client, store, append, says, live };
}

function delta(turnId: string, text: string): LiveEvent {
  const of = { turnId, step: 1, attempt: 1, messageId: `${turnId}.1` };
  return { type: 'text_delta', ...of, offset: 0, text };
}

async function open(base: string, turnId: string, after?: string) {
  const leaving = new AbortController();
  const path = `/api/runs/${encodeURIComponent(runIdOf('talk', turnId))}/stream`;
  const response = await fetch(`${base}${path}`, {
    headers: after === undefined ? {} : { 'last-event-id': after },
    signal: leaving.signal,
  });
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? [])
      parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
  };
  const state = { isOver: false };
  void read()
    .catch(() => undefined)
    .then(() => {
      state.isOver = true;
    });
  const leave = (): void => {
    leaving.abort();
  };
  onTestFinished(leave);
  const ids = () => messages.flatMap(({ id, event = '' }) => (id ? [`${id} ${event}`] : []));
  return { response, messages, ids, state, leave };
}

/** Seqs 2 to 11: a run that waits in the queue while another one goes on. */
const [askOne, startOne] = asks('turn_a_1') as [EventBody, EventBody];
const [askTwo, startTwo] = asks('turn_a_2') as [EventBody, EventBody];
const BOTH = [askOne, startOne, askTwo, ...answers('turn_a_1'), startTwo, ...answers('turn_a_2')];
const ONE = [
  ...['1-2 user_message', '1-3 turn_started', '1-5 model_call', '1-6 assistant_message'],
  '1-7 turn_ended',
];
const TWO = [
  ...['1-4 user_message', '1-8 turn_started', '1-9 model_call', '1-10 assistant_message'],
  '1-11 turn_ended',
];

describe('GET /api/runs/{runId}/stream', () => {
  it(
    'has the run from its first event to its last, and ends',
    promise('G404', '2.H.4'),
    async () => {
      const { base, store } = await talk();
      await store(...BOTH, ...turn('turn_a_3'));
      for (const [turnId, events] of [['turn_a_1', ONE] as const, ['turn_a_2', TWO] as const]) {
        const { response, ids, messages, state } = await open(base, turnId);
        expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
        await until('it has ended', () => state.isOver);
        expect(ids()).toEqual(events);
        expect(JSON.parse(messages.at(-1)?.data ?? '')).toMatchObject({ turnId, text: 'hi' });
      }
    },
  );

  it('follows a run that goes on, with its live events between', promise('G404'), async () => {
    const { base, store, says, live } = await talk();
    await store(askOne, startOne, askTwo);
    const { ids, messages, state } = await open(base, 'turn_a_1');
    await until('it has begun', () => ids().length === 2 && live.watched(KEY)?.live === true);
    says(delta('turn_a_1', 'h'));
    await until('the text', () => messages.some(({ event }) => event === 'live.text_delta'));
    says(delta('turn_a_2', 'no'));
    await store(...answers('turn_a_1'), startTwo);
    await until('it has ended', () => state.isOver);
    expect(ids()).toEqual(ONE);
    const shown = messages.filter(({ event }) => event?.startsWith('live.'));
    expect(shown.map(({ id, data }) => [id, JSON.parse(data) as unknown])).toEqual([
      [undefined, delta('turn_a_1', 'h')],
    ]);
  });

  it('goes on after each cut, without a gap or a repeat', promise('G404', '2.H.4'), async () => {
    const { base, store } = await talk();
    const heard: string[] = [];
    let after: string | undefined;
    for (const body of BOTH) {
      await store(body);
      // A reader of the second run, which comes and goes from its first event on.
      if (body !== askTwo && heard.length === 0) continue;
      const { ids, state, leave, response } = await open(base, 'turn_a_2', after);
      expect(response.status).toBe(200);
      if (turnIdOf(body) === 'turn_a_2') await until('it has it', () => ids().length === 1);
      heard.push(...ids());
      after = ids().at(-1)?.split(' ')[0] ?? after;
      leave();
      await until('it is cut', () => state.isOver);
    }
    expect(heard).toEqual(TWO);
    // Behind the end, and behind what is long over: nothing is left, and a browser stays away.
    const ended = await open(base, 'turn_a_2', after);
    expect(ended.response.status).toBe(204);
    expect((await open(base, 'turn_a_1', '1-11')).response.status).toBe(204);
    // A place before the run is its begin.
    const early = await open(base, 'turn_a_2', '1-1');
    await until('it has ended', () => early.state.isOver);
    expect(early.ids()).toEqual(TWO);
  });

  it('knows a run that began just now, before the log has it', async () => {
    const { client, store } = await talk();
    const later = { ...client };
    later.conversation = (id, of) => {
      const conversation = client.conversation(id, of);
      const snapshot = async () => ({
        ...(await conversation.snapshot()),
        queued: ['turn_a_1'],
      });
      return { ...conversation, snapshot };
    };
    const served = await servedRoutes({ client: later, identity: READER });
    const { ids, state, response } = await open(served, 'turn_a_1');
    expect(response.status).toBe(200);
    await store(askOne, startOne, ...answers('turn_a_1'));
    await until('it has ended', () => state.isOver);
    expect(ids()).toHaveLength(5);
  });

  it(
    'ends where the log is rewritten, and is not found where the run is gone',
    promise('G404'),
    async () => {
      const { base, store, append } = await talk();
      await store(askOne, startOne);
      const { ids, state } = await open(base, 'turn_a_1');
      await until('it has begun', () => ids().length === 2);
      // A reset: another run of the workflow decides anew.
      await append(stamped([started(KEY), ...turn('turn_b_1')], { clock: 500 }), 'r2');
      await until('it has ended', () => state.isOver);
      expect(ids().at(-1)).toBe('2-0 log_rewritten');
      expect((await open(base, 'turn_a_1', '2-0')).response.status).toBe(404);
      // A reader of an older generation hears of it first.
      const behind = await open(base, 'turn_b_1', '1-2');
      await until('it has ended, too', () => behind.state.isOver);
      expect(behind.ids()).toEqual(['2-0 log_rewritten']);
      const again = await open(base, 'turn_b_1', '2-0');
      await until('it has all', () => again.state.isOver);
      expect(again.ids()).toHaveLength(5);
    },
  );

  it('says that a run may be too far back', async () => {
    const { client } = await talk();
    const conversation = client.conversation('talk', { tenant: 'acme' });
    const none = { events: [], cursor: { generation: 1, seq: 9 } as never, more: true };
    const base = await servedRoutes({
      client: { conversation: () => ({ ...conversation, events: () => Promise.resolve(none) }) },
      identity: READER,
    });
    const response = await fetch(`${base}/api/runs/talk:turn_a_1/stream`);
    expect(await response.json()).toEqual({
      error: 'Run not found: it began more than 10000 events ago, or there is none',
    });
    expect(response.status).toBe(404);
  });

  const NO_RUN = [404, { error: 'Run not found' }];
  it.each<[string, Partial<CallerIdentity> | undefined, string, unknown]>([
    ['of another tenant', { ...READER, tenants: ['other'] }, 'talk:turn_a_1/stream', NO_RUN],
    ['in its other tenant', READER, 'talk:turn_a_1/stream?tenant=other', NO_RUN],
    [
      'in a tenant of others',
      READER,
      'talk:turn_a_1/stream?tenant=umbrella',
      [403, { error: 'The caller may not name this tenant' }],
    ],
    [
      'bound to another conversation',
      { ...READER, conversation: 'elsewhere' },
      'talk:turn_a_1/stream',
      NO_RUN,
    ],
    [
      'without the right',
      { rights: ['answer', 'send'] },
      'talk:turn_a_1/stream',
      [403, { error: 'The caller lacks the right "read"' }],
    ],
    [
      'without an identity',
      undefined,
      'talk:turn_a_1/stream',
      [401, { error: 'The request has no valid credentials' }],
    ],
    ['for an unknown run', READER, 'talk:turn_x_1/stream', NO_RUN],
    ['for a run of an unknown conversation', READER, 'nowhere:turn_a_1/stream', NO_RUN],
    ['for an id that is no run', READER, 'talk/stream', NO_RUN],
  ])('refuses a caller %s', promise('G404'), async (...given) => {
    const [, identity, path, answer] = given;
    const { client, store } = await talk();
    await store(...BOTH);
    const base = await servedRoutes({ client, identity });
    const response = await fetch(`${base}/api/runs/${path}`);
    expect([response.status, await response.json()]).toEqual(answer);
  });

  it.each(['x', '1', '0-1', '1-2-3', '-1-2'])('refuses the place %j', async (after) => {
    const { base, store } = await talk();
    await store(...BOTH);
    const { response } = await open(base, 'turn_a_1', after);
    expect(response.status).toBe(400);
  });

  it('takes a ConversationClient', () => {
    expectTypeOf<ConversationClient>().toExtend<RunsClient>();
  });
});
