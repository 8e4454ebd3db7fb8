/**
 * The watch of leases: a lapsed lease is reported to its conversation until its row is gone; one process at a time.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import {
  createLeaseLostNotifier,
  LeaseWatch,
  type NotifyLeaseLost,
} from '../../../../src/projection/duties/lease-watch.js';
import type { CallLease } from '../../../../src/store/ports/leases.js';
import { fakeTemporal, noAnswer, refusal } from '../../../support/fakes/fake-temporal.js';
import { until } from '../../../support/until.js';
import { aSilentServer } from '../setup.js';

const lease = (toolCallId: string): CallLease => ({
  tenant: 'default',
  conversationId: 'c1',
  toolCallId,
  claimId: `claim-${toolCallId}`,
  seq: 5,
  holder: 'ann',
  leaseMs: 1_000,
  leaseUntil: '2030-01-01T00:00:00.000Z',
});

function watchOf(leases: readonly CallLease[], notify: NotifyLeaseLost, leads = true) {
  const rows = new Set(leases);
  const watch = new LeaseWatch({
    notify,
    intervalMs: 1,
    log: {
      acquireLease: () => Promise.resolve(leads),
      releaseLease: () => Promise.resolve(),
      lapsedCallLeases: ({ after }) => Promise.resolve(after === undefined ? [...rows] : []),
      dropCallLease: (gone) => {
        rows.delete(gone);
        return Promise.resolve();
      },
    },
  });
  return { watch, rows };
}

test('reports every lapsed lease in each pass, until its row is gone', async () => {
  const reported: string[] = [];
  const { watch, rows } = watchOf([lease('a'), lease('b')], ({ toolCallId }) => {
    reported.push(toolCallId);
    return Promise.resolve('notified');
  });
  expect(await watch.pass()).toBe(2);
  rows.clear();
  expect(await watch.pass()).toBe(0);
  expect(reported).toEqual(['a', 'b']);
});

test('drops the row of a claim that its conversation does not have', async () => {
  const { watch, rows } = watchOf([lease('a')], () => Promise.resolve('unknown'));
  expect(await watch.pass()).toBe(0);
  expect(rows.size).toBe(0);
});

test('keeps the row of a conversation that does not answer, and continues with the others', async () => {
  const silent = lease('a');
  const { watch, rows } = watchOf([silent, lease('b')], (one) =>
    one === silent ? Promise.reject(new Error('no answer')) : Promise.resolve('unknown'),
  );
  expect(await watch.pass()).toBe(0);
  expect([...rows]).toEqual([silent]);
});

test('stops with the reports that are under way, and leaves the others to the next leader', async () => {
  const leases = Array.from({ length: 20 }, (_, nth) => lease(`call${nth}`));
  const server = aSilentServer();
  const { watch, rows } = watchOf(leases, server.request);
  watch.start();
  await until('reports are under way', () => server.count() === 8);
  const stopped = watch.stop();
  server.pass();
  await stopped;
  expect(server.count()).toBe(8);
  expect(rows.size).toBe(20);
});

test('does nothing while another process leads', async () => {
  const { watch } = watchOf(
    [lease('a')],
    () => Promise.reject(new Error('not to be reported')),
    false,
  );
  expect(await watch.pass()).toBeUndefined();
});

test.each<[string, Error]>([
  ['refuses by a verdict', refusal('verdict', { verdict: 'stale', why: 'already_resolved' })],
  ['does not run', new WorkflowNotFoundError('no such run', 'conversation:default:c1', undefined)],
])('drops the row of a conversation that %s', async (_title, error) => {
  const { client } = fakeTemporal({ update: () => Promise.reject(error) });
  const { watch, rows } = watchOf([lease('a')], createLeaseLostNotifier(client));
  expect(await watch.pass()).toBe(0);
  expect(rows.size).toBe(0);
});

test.each<[string, Error]>([
  ['that met a roll-over', refusal('UnprocessedUpdate', undefined)],
  ['without an answer', noAnswer()],
])('keeps the row after an update %s, and reports it in the next pass', async (_title, error) => {
  let tries = 0;
  const { client } = fakeTemporal({
    update: () => {
      tries += 1;
      if (tries === 1) throw error;
      return { lost: true, seq: 9 };
    },
  });
  const { watch, rows } = watchOf([lease('a')], createLeaseLostNotifier(client));
  expect(await watch.pass()).toBe(0);
  expect(rows.size).toBe(1);
  expect(await watch.pass()).toBe(1);
});
