/**
 * The watch of definitions: pending calls are offered as all workers have them now, and by no worker while
 * definitions differ.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import {
  createOfferNotifier,
  DefinitionWatch,
  type NotifyOffer,
} from '../../../../src/projection/duties/definition-watch.js';
import type { Suspension } from '../../../../src/protocol/calls/suspensions.js';
import type { ConversationKey } from '../../../../src/protocol/values/ids.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { fakeTemporal, noAnswer, refusal } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { KEY, stamped, started, suspends } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aSilentServer } from '../setup.js';

let log: EventLog | undefined;
afterEach(async () => {
  await log?.close();
});

const { agent: AGENT } = started() as { readonly agent: string };
const OFFER = { definition: 'new', answerSchema: { type: 'string' } };

async function stored(...waits: readonly Partial<Suspension>[]): Promise<EventLog> {
  const open = await openSqliteEventLog({ file: ':memory:' });
  log = open;
  for (const [index, wait] of waits.entries()) {
    const key = { ...KEY, conversationId: `c${index}` };
    const suspension = { kind: 'elicitation', definition: 'old', ...wait } as const;
    const events = stamped([started(key), suspends(`t${index}`, `call${index}`, suspension)]);
    await open.append({ ...key, runId: `r${index}`, events });
  }
  return open;
}

function watchOn(open: EventLog, notify: NotifyOffer, digest = 'new'): DefinitionWatch {
  return new DefinitionWatch({
    log: open,
    agents: [{ name: AGENT, digest, offerOf: () => OFFER }],
    notify,
  });
}

function noting(outcome: 'changed' | 'refused' = 'changed') {
  const updated: string[] = [];
  const notify = ({ conversationId }: ConversationKey) => {
    updated.push(conversationId);
    return Promise.resolve(outcome);
  };
  return { updated, notify };
}

test('offers every pending call anew that was offered by another definition, once', {
  ...promise('G218'),
}, async () => {
  const open = await stored({}, { definition: 'new' }, { kind: 'external_execution' });
  const { updated, notify } = noting();
  const watch = watchOn(open, notify);
  expect(await watch.pass()).toBe(2);
  expect(updated.sort()).toEqual(['c0', 'c2']);
  expect(await watch.pass()).toBe(0);
  expect(updated).toHaveLength(2);
});

test('reads all pages', async () => {
  const open = await stored(...Array.from({ length: 230 }, () => ({})));
  const { updated, notify } = noting();
  expect(await watchOn(open, notify).pass()).toBe(230);
  expect(new Set(updated).size).toBe(230);
});

test('waits while another worker has other definitions, and begins when that worker is gone', {
  ...promise('G218'),
}, async () => {
  const open = await stored({});
  await open.announceWorker({ id: 'old', agents: { [AGENT]: 'old' } });
  const { updated, notify } = noting();
  const watch = watchOn(open, notify);
  expect(await watch.pass()).toBe(0);
  await open.withdrawWorker('old');
  expect(await watch.pass()).toBe(1);
  // Back to the former definitions, and forth again: the watch reads anew.
  await open.announceWorker({ id: 'old', agents: { [AGENT]: 'old' } });
  await watch.pass();
  await open.withdrawWorker('old');
  expect(await watch.pass()).toBe(1);
  expect(updated).toHaveLength(2);
});

test('stops with the offers that are under way', async () => {
  const server = aSilentServer();
  const watch = watchOn(await stored(...Array.from({ length: 20 }, () => ({}))), server.request);
  watch.start();
  await until('offers are under way', () => server.count() === 8);
  const stopped = watch.stop();
  server.pass();
  await stopped;
  expect(server.count()).toBe(8);
});

test('does not wait for workers that serve other agents', async () => {
  const open = await stored({});
  await open.announceWorker({ id: 'other', agents: { other: 'x' } });
  expect(await watchOn(open, noting().notify).pass()).toBe(1);
});

test('leaves calls that a client holds, and reads again', promise('G218'), async () => {
  const claim = { by: 'b', claimId: 'c', at: '2030-01-01T00:00:00.000Z', leaseMs: 1, seq: 1 };
  const held = { ...claim, leaseUntil: '2030-01-01T00:00:00.000Z' };
  const open = await stored({ kind: 'external_execution', claim: held });
  const { updated, notify } = noting();
  const watch = watchOn(open, notify);
  expect([await watch.pass(), await watch.pass(), updated.length]).toEqual([0, 0, 0]);
});

test('continues with others where a conversation does not answer, and returns to it', async () => {
  const open = await stored({}, {});
  let isDown = true;
  const watch = watchOn(open, ({ conversationId }) =>
    isDown && conversationId === 'c0'
      ? Promise.reject(new Error('no answer'))
      : Promise.resolve('changed'),
  );
  expect(await watch.pass()).toBe(1);
  isDown = false;
  expect(await watch.pass()).toBe(2);
  expect(await watch.pass()).toBe(0);
});

test('one worker at a time reads the calls of an agent', async () => {
  const open = await stored({});
  await open.acquireLease({ name: `definitions:${AGENT}`, holder: 'other', ttlMs: 60_000 });
  const watch = watchOn(open, noting().notify);
  expect(await watch.pass()).toBe(0);
  await open.releaseLease({ name: `definitions:${AGENT}`, holder: 'other' });
  expect(await watch.pass()).toBe(1);
});

test('announces its worker as soon as it is started, and withdraws it when it stops', async () => {
  const open = await stored();
  const watch = watchOn(open, noting().notify);
  watch.start();
  await watch.stop();
  expect(await open.liveWorkers()).toEqual([]);
});

const input = { toolCallId: 'call0', offer: OFFER };

test.each<[string, Error]>([
  ['refuses by a verdict', refusal('verdict', { verdict: 'stale', why: 'already_resolved' })],
  ['does not run', new WorkflowNotFoundError('no such run', 'conversation:default:c1', undefined)],
])('a conversation that %s gets no more updates', async (_title, error) => {
  const { client } = fakeTemporal({ update: () => Promise.reject(error) });
  expect(await createOfferNotifier(client)(KEY, input)).toBe('refused');
});

test('an update without an answer is sent again in the next pass', async () => {
  const { client } = fakeTemporal({ update: () => Promise.reject(noAnswer()) });
  await expect(createOfferNotifier(client)(KEY, input)).rejects.toThrow();
});
