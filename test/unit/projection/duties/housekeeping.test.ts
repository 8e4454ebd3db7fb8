/** The duties of the leader of the sweep: deletions that nothing else would carry out. */
import { expect, test } from 'vitest';
import {
  type Delete,
  Housekeeping,
  type HousekeepingDeps,
} from '../../../../src/projection/duties/housekeeping.js';
import { closes, KEY, stamped, started } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection, aSilentServer } from '../setup.js';

async function duties(over: Pick<HousekeepingDeps, 'closedAfterMs'> & { readonly delete: Delete }) {
  const { log } = await aProjection();
  return { log, duties: new Housekeeping({ log, resumeAfterMs: 0, ...over }) };
}

test('the duties end with the deletions that are under way when the sweep stops', async () => {
  const server = aSilentServer();
  const { log, duties: own } = await duties({ delete: server.request });
  for (let nth = 0; nth < 20; nth += 1)
    await log.beginDeletion({ ...KEY, conversationId: `c${nth}`, runIds: ['run-1'] });
  let isStopping = false;
  const passed = own.pass(() => isStopping);
  await until('deletions are under way', () => server.count() === 4);
  isStopping = true;
  server.pass();
  expect(await passed).toMatchObject({ resumed: 0, failed: 4 });
  expect(server.count()).toBe(4);
});

const IDS = Array.from({ length: 101 }, (_, nth) => `c${nth + 100}`);

/** Deletes nothing, and notes which conversations it was to delete. */
function failing() {
  const asked: string[] = [];
  const refuse: Delete = ({ conversationId }) => {
    asked.push(conversationId);
    return Promise.reject(new Error('cannot be deleted'));
  };
  return { asked, delete: refuse };
}

test('a hundred deletions that never finish do not hold up the others', async () => {
  const { asked, ...over } = failing();
  const { log, duties: own } = await duties(over);
  for (const conversationId of IDS)
    await log.beginDeletion({ ...KEY, conversationId, runIds: ['run-1'] });
  expect(await own.pass()).toMatchObject({ failed: 100 });
  expect(await own.pass()).toMatchObject({ failed: 1 });
  expect(asked.toSorted()).toEqual(IDS);
  // From the first on again.
  expect(await own.pass()).toMatchObject({ failed: 100 });
});

test('a hundred closed conversations that cannot be deleted do not hold up the others', async () => {
  const { asked, ...over } = failing();
  const { log, duties: own } = await duties({ ...over, closedAfterMs: -1e12 });
  for (const conversationId of IDS) {
    const key = { ...KEY, conversationId };
    await log.append({ ...key, runId: 'r', events: stamped([started(key), closes()]) });
  }
  expect(await own.pass()).toMatchObject({ failed: 100 });
  expect(await own.pass()).toMatchObject({ failed: 1 });
  expect(asked.toSorted()).toEqual(IDS);
  expect(await own.pass()).toMatchObject({ failed: 100 });
});
