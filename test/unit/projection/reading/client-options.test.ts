import { Client, Connection } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { clientOptionsFrom } from '../../../../src/projection/client-options.js';
import { openEventLog } from '../../../../src/projection/source/open-log.js';
import { FAILING } from '../../../support/conformance/troubles.js';
import { breakable } from '../../../support/fakes/breakable-log.js';
import { held } from '../../../support/fakes/held-log.js';
import { promise } from '../../../support/promise.js';
import { KEY } from '../../../support/samples/log-events.js';
import { SUPPORT } from '../../../support/samples/sample-log.js';
import { until } from '../../../support/until.js';

it('agents are those that the store named last, while it is away or slow; a message does not need it', {
  ...promise('G247'),
}, async () => {
  const opened = await openEventLog(':memory:');
  const broken = breakable(opened.log);
  const slow = held(broken.log);
  const connection = Connection.lazy();
  onTestFinished(async () => {
    await opened.close();
    await connection.close();
  });
  const { agents } = clientOptionsFrom({ ...opened, log: slow.log }, new Client({ connection }));
  broken.isDown = true;
  await expect(agents(), 'nothing is known yet').rejects.toThrow('the disk is gone');
  broken.isDown = false;
  await opened.log.publishAgents([SUPPORT]);
  expect(await agents()).toEqual([SUPPORT]);
  broken.isDown = true;
  expect(await agents()).toEqual([SUPPORT]);
  broken.isDown = false;
  slow.hold();
  expect(await agents()).toEqual([SUPPORT]);
  slow.release();
  await opened.log.publishAgents([{ ...SUPPORT, name: 'sales' }]);
  expect((await agents()).map(({ name }) => name)).toEqual(['sales', 'support']);
});

it('marks and logs a conversation whose workflow fails', { ...promise('G20') }, async () => {
  const opened = await openEventLog(':memory:');
  const connection = Connection.lazy();
  onTestFinished(async () => {
    await opened.close();
    await connection.close();
  });
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const logger = { info: note, warn: note };
  const { onTrouble } = clientOptionsFrom(opened, new Client({ connection }), logger);
  onTrouble(KEY, FAILING);
  await until('it is marked', () => opened.log.trouble(KEY));
  await until('it is logged', () => lines.length === 1);
});
