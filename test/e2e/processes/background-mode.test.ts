/**
 * A model in background mode: a response that its worker lost is not paid for again, and the provider's tools run once.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { message } from '../../support/samples/wire-events.js';
import {
  type BackgroundServer,
  startBackgroundServer,
} from '../../support/servers/background-server.js';
import { until } from '../../support/until.js';
import type { EventStream, Frame } from '../support/api.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const TEXT = 'An answer that is long enough to lose its worker in the middle. '.repeat(8).trim();
const SEARCH = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'it' },
} as const;

let provider: BackgroundServer;
let world: World;
let killed: Talk;
let stopped: Talk;
let watched: EventStream;

beforeAll(async () => {
  provider = await startBackgroundServer({
    items: () => [SEARCH, message('msg_1', [{ type: 'output_text', text: TEXT, annotations: [] }])],
    // Slow enough for a watcher, and held in the middle of the text.
    paceMs: 200,
    heldAfter: 25,
  });
  world = await startWorld({
    agents: fileURLToPath(new URL('../fixtures/background.ts', import.meta.url)),
    env: { E2E_RESPONSES_URL: provider.url },
  });
  killed = world.talk('killed');
  stopped = world.talk('stopped');
  await killed.begin('patient', 'search');
  watched = await killed.stream();
  await until('some text is streamed', () => textOf(1));
  await until('the server knows of the response', () => heartbeatOf(killed), {
    holds: (details) => details.includes('resp_1'),
  });
  await world.stack.worker().kill();
  await world.stack.startWorker();
  await until('the text is streamed again', () => textOf(2), { timeoutMs: 60_000 });

  await stopped.begin('patient', 'search');
  await until('the server knows of the second response', () => heartbeatOf(stopped), {
    holds: (details) => details.includes('resp_2'),
  });
  const { status } = await stopped.call('/cancel', { body: {} });
  expect(status).toBe(200);
  await stopped.ended();
  provider.release();
});
afterAll(async () => {
  watched.close();
  await world.stop();
  await provider.close();
});

describe('a worker that is killed while the model answers in the background', () => {
  it('leaves a response that the next worker reads to its end: no second response is created', {
    ...promise('G12'),
  }, async () => {
    expect(await killed.ended()).toMatchObject({ status: 'completed', text: TEXT });
    // The other creation belongs to the cancelled turn.
    expect(provider.creations).toHaveLength(2);
    expect(provider.resumptions).toContainEqual({ id: 'resp_1', after: undefined });
    const calls = await killed.eventsOf('model_call');
    expect(calls).toMatchObject([{ attempt: 2, usage: { inputTokens: 100, outputTokens: 20 } }]);
    // One response, paid for once.
    expect(calls[0]).not.toHaveProperty('earlierUsage');
    expect(calls[0]?.usage).not.toHaveProperty('estimated');
    expect(await killed.eventsOf('tool_call')).toMatchObject([{ executed: true }]);
  });

  it('shows watchers the whole text once, under the number of the attempt that has it', {
    ...promise('G12', 'N29'),
  }, async () => {
    await until('the stream has the end', () => watched.frames.map(({ event }) => event), {
      holds: (events) => events.includes('turn_ended'),
    });
    expect(textOf(2)).toBe(TEXT);
    expect(TEXT.startsWith(textOf(1))).toBe(true);
    let offset = 0;
    for (const { data } of textFrames(2)) {
      expect(data['offset']).toBe(offset);
      offset += String(data['text']).length;
    }
    const [said] = await killed.eventsOf('assistant_message');
    const ids = new Set([...textFrames(1), ...textFrames(2)].map(({ data }) => data['messageId']));
    expect([...ids]).toEqual([said?.messageId]);
  });
});

describe('a turn that is cancelled while its model answers in the background', () => {
  it('cancels the response at the provider', promise('G12'), async () => {
    await until('it is cancelled there', () => provider.cancelled, {
      holds: (ids) => ids.length > 0,
    });
    expect(provider.cancelled).toEqual(['resp_2']);
    expect(await stopped.ended()).toMatchObject({ status: 'cancelled' });
  });
});

/** The heartbeat details of the running model call, from the server. */
async function heartbeatOf({ workflowId }: Talk): Promise<string> {
  const { raw } = await world.temporal.workflow.getHandle(workflowId).describe();
  return (raw.pendingActivities ?? [])
    .flatMap(({ heartbeatDetails }) => heartbeatDetails?.payloads ?? [])
    .map(({ data }) => Buffer.from(data ?? []).toString())
    .join(' ');
}

function textFrames(attempt: number): readonly Frame[] {
  return watched.frames.filter(
    ({ event, data }) => event === 'live.text_delta' && data['attempt'] === attempt,
  );
}

function textOf(attempt: number): string {
  return textFrames(attempt)
    .map(({ data }) => String(data['text']))
    .join('');
}
