/** The chat with an agent whose sub-agents ask, three levels deep: their calls are answered in the chat itself. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';
import { answers, openChat, say, talkOf } from '../../support/pages/chat.js';
import { expectAccessible } from '../../support/pages/looks.js';
import { startWorld, type World } from '../../support/world.js';

const AGENTS = fileURLToPath(new URL('../../fixtures/nested.ts', import.meta.url));
const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS });
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it('each call of a sub-agent is shown with its path below the call that led to it, and answered there', {
  ...promise('G392'),
  timeout: patient(120_000),
}, async () => {
  const page = await openChat(browser, world.apiUrl, { path: 'boss' });
  await say(page, 'Clean up');
  const left = page
    .getByRole('article', { name: 'Call of left', exact: true })
    .getByRole('article', { name: 'Call of files.remove, left › deep' });
  const right = page
    .getByRole('article', { name: 'Call of right', exact: true })
    .getByRole('article', { name: 'Call of files.remove, right › deep' });
  await left.getByText('deep, asked by left › deep').waitFor();
  await right.waitFor();
  expect(await page.locator('.news').textContent()).toMatch(/^New approval: files\.remove, /);
  await expectAccessible(page, 'calls of sub-agents');
  const talk = talkOf(world, page);
  expect((await talk.call('/pending')).body['pending']).toEqual([]);
  // The card leaves soon after it says so.
  await Promise.all([
    left.getByText('Approved').waitFor(),
    left.getByRole('button', { name: 'Approve' }).click(),
  ]);
  await left.waitFor({ state: 'detached' });
  // The worker dies while the other one waits.
  await world.stack.worker().kill();
  await world.stack.startWorker();
  await right.getByRole('button', { name: 'Deny …' }).click();
  await page.keyboard.type('keep it');
  await page.keyboard.press('Control+Enter');
  await answers(page).getByText('keep it').first().waitFor();
  await right.waitFor({ state: 'detached' });
  const runs = await until('the file is removed', () => world.lines('runs.jsonl'), {
    holds: (lines) => lines.length > 0,
  });
  expect(runs).toHaveLength(1);
});
