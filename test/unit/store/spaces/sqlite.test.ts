/** Spaces in sqlite: the contract of every store. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { describeReadMarks } from '../../../support/conformance/spaces/marks.js';
import { BOT, KEY, makerOf } from '../../../support/conformance/spaces/samples.js';
import { describeSpaces } from '../../../support/conformance/spaces/spaces.js';
import { describeWakes } from '../../../support/conformance/spaces/wakes.js';
import { describeSpaceWriters } from '../../../support/conformance/spaces/writers.js';
import { temporaryFolder } from '../../../support/temporary.js';

const make = async () => await openSqliteStores({ file: ':memory:' });

describeSpaces('sqlite spaces', make);
describeReadMarks('read marks in sqlite', make);
describeWakes('agents to wake in sqlite', make);
describeSpaceWriters('writers of a space in sqlite', () => {
  const file = join(temporaryFolder(), 'log.db');
  return async () => await openSqliteStores({ file });
});

it('no agent of a space is due any more once its removal has begun', async () => {
  const { spaces, log } = await make();
  onTestFinished(() => log.close());
  const { created, stored } = makerOf(() => spaces);
  await created();
  await spaces.join({ ...KEY, member: BOT, nowMs: 1 });
  // More than one part of a removal.
  for (let n = 0; n <= 2_000; n += 1) await stored({ id: `m${n}` });
  const removing = spaces.remove(KEY);
  expect(await spaces.claimWakes({ limit: 9, nowMs: 9_000, leaseMs: 1_000 })).toEqual([]);
  expect(await removing).toBe(true);
});
