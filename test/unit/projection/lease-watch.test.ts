/** The watch of leases: what has lapsed is told until its row is gone; one process at a time. */
import { expect, test } from 'vitest';
import { LeaseWatch, type TellLost } from '../../../src/projection/lease-watch.js';
import type { CallLease } from '../../../src/store/port.js';

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

function watchOf(leases: readonly CallLease[], tell: TellLost, leads = true) {
  const rows = new Set(leases);
  const watch = new LeaseWatch({
    tell,
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

test('tells every pass of what has lapsed, until the row is gone', async () => {
  const told: string[] = [];
  const { watch, rows } = watchOf([lease('a'), lease('b')], ({ toolCallId }) => {
    told.push(toolCallId);
    return Promise.resolve('told');
  });
  expect(await watch.pass()).toBe(2);
  rows.clear();
  expect(await watch.pass()).toBe(0);
  expect(told).toEqual(['a', 'b']);
});

test('drops the row of a claim that its conversation does not know', async () => {
  const { watch, rows } = watchOf([lease('a')], () => Promise.resolve('unknown'));
  expect(await watch.pass()).toBe(0);
  expect(rows.size).toBe(0);
});

test('keeps the row of a conversation that does not answer, and goes on with the others', async () => {
  const silent = lease('a');
  const { watch, rows } = watchOf([silent, lease('b')], (one) =>
    one === silent ? Promise.reject(new Error('no answer')) : Promise.resolve('unknown'),
  );
  expect(await watch.pass()).toBe(0);
  expect([...rows]).toEqual([silent]);
});

test('does nothing while another process leads', async () => {
  const { watch } = watchOf([lease('a')], () => Promise.reject(new Error('not to be told')), false);
  expect(await watch.pass()).toBeUndefined();
});
