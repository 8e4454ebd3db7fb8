/** The duties of the leader of the sweep: deletions that nothing else would carry out. */
import { expect, test } from 'vitest';
import {
  type Delete,
  Housekeeping,
  type HousekeepingDeps,
} from '../../../../src/projection/duties/housekeeping.js';
import { KEY } from '../../../support/samples/log-events.js';
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
