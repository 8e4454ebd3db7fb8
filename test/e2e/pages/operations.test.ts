/** The operations page: a worker that is killed, the button that kills one, and the accessibility of both. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.js';
import { LOOKS } from '../../support/pages/look-list.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { beginRefund } from '../support/pages/inbox.js';
import { expectAccessible } from '../support/pages/looks.js';
import { openOperations, workerRow } from '../support/pages/operations.js';
import { startWorld, type World } from '../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await beginRefund(world, 'ops-1');
  await beginRefund(world, 'ops-2');
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it.each(LOOKS)(
  'is accessible, $colorScheme and $width pixels wide, enlarged $zoom times',
  async (options) => {
    const page = await openOperations(browser, world.apiUrl, options);
    await workerRow(page, world.stack.worker().pid, 'up').waitFor();
    await page.getByText('2 calls of 2 conversations wait').waitFor();
    await expectAccessible(page, 'workers and waits');
  },
);

it('a worker that is killed is shown as gone, and the one that takes its place as up', {
  ...promise('G387'),
  timeout: patient(120_000),
}, async () => {
  const page = await openOperations(browser, world.apiUrl);
  const killed = world.stack.worker();
  await workerRow(page, killed.pid, 'up').waitFor();
  await killed.kill();
  await workerRow(page, killed.pid, 'gone').waitFor();
  await page.getByText('0 workers up').waitFor();
  const copy = page.getByRole('button', { name: 'Copy npx colloquy worker' });
  await copy.first().waitFor();
  await expectAccessible(page, 'no worker');
  const { pid } = await world.stack.startWorker();
  await workerRow(page, pid, 'up').waitFor();
  await workerRow(page, killed.pid, 'gone').waitFor();
});

it('the button kills the worker, and shows that all calls that waited still wait', {
  ...promise('G388'),
  timeout: patient(120_000),
}, async () => {
  const page = await openOperations(browser, world.apiUrl);
  const { pid } = world.stack.worker();
  await workerRow(page, pid, 'up').waitFor();
  await page.getByRole('button', { name: 'Kill the worker' }).click();
  await page.getByText(`Killed process ${pid}`).waitFor();
  expect(world.stack.isReplacing() || world.stack.worker().pid !== pid).toBe(true);
  const outcome = page.getByText('another worker is up');
  await outcome.waitFor();
  expect(await outcome.textContent()).toMatch(
    /Before: 2 calls waited\. After: the same 2 calls wait\. Nothing was lost\./,
  );
  await workerRow(page, pid, 'gone').waitFor();
  await workerRow(page, world.stack.worker().pid, 'up').waitFor();
  await expectAccessible(page, 'after a kill');
});
