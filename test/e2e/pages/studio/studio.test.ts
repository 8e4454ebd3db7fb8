/** A developer looks into conversations: finds one, goes through its log, forks it, deletes the fork. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { LOOKS } from '../../../support/pages/look-list.js';
import { patient } from '../../../support/patience.js';
import { until } from '../../../support/until.js';
import { beginRefund, live } from '../../support/pages/inbox.js';
import { expectAccessible } from '../../support/pages/looks.js';
import { atCursor, openStudio, unfold } from '../../support/pages/studio.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  const temporalUi = 'http://127.0.0.1:8233';
  world = await startWorld({
    env: { COLLOQUY_AUDIT: 'full', COLLOQUY_TEMPORAL_UI: temporalUi },
  });
  const { talk, toolCallId } = await beginRefund(world, 'look-1');
  await talk.resolve(toolCallId, { type: 'approve' });
  await talk.ended();
  await beginRefund(world, 'look-2');
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it('finds a conversation by status and id, and the address keeps the filters', async () => {
  const page = await openStudio(browser, world.apiUrl);
  const list = page.getByRole('list', { name: 'Conversations' });
  await list.getByRole('link', { name: 'look-2' }).waitFor();
  await page.getByLabel('Status').selectOption('awaiting_input');
  await list.getByRole('link', { name: 'look-1' }).waitFor({ state: 'detached' });
  await page.getByLabel('Id', { exact: true }).fill('look-');
  await page.waitForURL(({ search }) => search === '?status=awaiting_input&search=look-');
  await page.reload();
  await live(page);
  await list.getByRole('link', { name: 'look-2' }).waitFor();
  expect(await list.getByRole('listitem').count()).toBe(1);
  // A conversation that begins is there without a reload.
  await beginRefund(world, 'look-3');
  await list.getByRole('link', { name: 'look-3' }).waitFor();
  await list.getByText('Please, for look-3').waitFor();
});

it('shows messages, waiting calls and state at every place of the log, by keyboard alone', async () => {
  const page = await openStudio(browser, world.apiUrl, { path: '/look-1' });
  await atCursor(page, /turn ended, turn 1 of 1/);
  await page.getByText('Messages (4)').waitFor();
  await page.getByLabel('Event', { exact: true }).focus();
  await page.keyboard.press('Home');
  await atCursor(page, /^1 conversation started/);
  await page.getByText('Messages (0)').waitFor();
  for (let steps = 0; steps < 2; steps += 1) await page.keyboard.press('ArrowRight');
  await atCursor(page, /^3 turn started/);
  await page.getByText('Messages (1)').waitFor();
  while (!/suspension/.test(await page.locator('output.cursor').innerText()))
    await page.keyboard.press('ArrowRight');
  await page.getByText('Waiting (1), running (0)').waitFor();
  const seq = /^\d+/.exec(await page.locator('output.cursor').innerText())?.[0] ?? '';
  expect(new URL(page.url()).search).toBe(`?at=${seq}`);
  await page.reload();
  await live(page);
  await atCursor(page, /suspension/);
  await page.getByLabel('Event', { exact: true }).focus();
  await page.keyboard.press('Space');
  await atCursor(page, /turn ended/);
  await page.getByText('Waiting (0), running (0)').waitFor();
  await page.keyboard.press('End');
  expect(new URL(page.url()).search).toBe('');
});

it('shows the request of a model call from the audit, with its differences, and names the run in Temporal', async () => {
  const page = await openStudio(browser, world.apiUrl, { path: '/look-1' });
  await unfold(page, /^Model call/);
  await page.getByText('From the audit').waitFor();
  await page.getByText('Messages added').waitFor();
  await unfold(page, /^System prompt/);
  const link = page.getByRole('link', { name: 'Open in the Temporal UI' });
  const address = (await link.getAttribute('href')) ?? '';
  expect(address).toMatch(
    /^http:\/\/127\.0\.0\.1:8233\/namespaces\/default\/workflows\/conversation%3Adefault%3Alook-1\/[\w-]+\/history$/,
  );
});

it('forks at a place, and deletes the fork once its id is typed', async () => {
  const page = await openStudio(browser, world.apiUrl, {
    // The page may ask for events of the fork until its deletion is answered.
    ...{ path: '/look-2', expected: /status of 404/ },
  });
  await page.getByText('payments.refund waits anew in the fork').waitFor();
  await page.getByRole('button', { name: /^Fork at 1-\d+$/ }).click();
  await page.getByText(/Forked\. Calls that stay with the origin/).waitFor();
  await page.getByRole('link', { name: 'Open the fork' }).click();
  await live(page);
  await page.getByText('Fork of look-2').waitFor();
  const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
  await page.getByRole('button', { name: 'Delete …' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByRole('button', { name: 'Delete for good' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Type the id').fill(id);
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Conversations' }).waitFor();
  expect((await world.talk(id).call('')).status).toBe(404);
  const [kept] = await world.talk('look-2').waitingCalls(1);
  expect(kept?.name).toBe('payments.refund');
});

it('plays a turn again with another prompt, both side by side, and runs no tool', async () => {
  const before = await world.lines('refunds.jsonl');
  const page = await openStudio(browser, world.apiUrl, { path: '/look-1' });
  await unfold(page, /^What if/);
  const play = page.getByRole('button', { name: 'Play the turn again' });
  expect(await play.isDisabled()).toBe(true);
  await page.getByLabel('Instructions in place of').fill('Be brief.');
  await play.click();
  await page.getByText('Ended after 2 steps.').waitFor();
  const report = page.getByRole('region', { name: 'What if' });
  expect(await report.getByRole('heading', { name: /^Recorded/ }).count()).toBe(2);
  expect(await report.getByText('as recorded').count()).toBe(2);
  await expectAccessible(page, 'what if');
  expect(await world.lines('refunds.jsonl')).toEqual(before);
});

describe('with a worker that is killed', () => {
  it('answers and messages go on, and nothing happens twice', async () => {
    await beginRefund(world, 'look-4');
    const page = await openStudio(browser, world.apiUrl, { path: '/look-4' });
    await world.stack.worker().kill();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/No worker is up; your answer is kept/).waitFor();
    await world.stack.startWorker();
    await atCursor(page, /turn ended/);
    const refunds = await until('the refund is made', () => world.lines('refunds.jsonl'), {
      holds: (lines) => lines.some(({ paymentId }) => paymentId === 'p_look-4'),
    });
    expect(refunds.filter(({ paymentId }) => paymentId === 'p_look-4')).toHaveLength(1);
  });
});

it.each(LOOKS)(
  'is accessible, $colorScheme and $width pixels wide, enlarged $zoom times',
  async (options) => {
    const page = await openStudio(browser, world.apiUrl, options);
    await page.getByRole('list', { name: 'Conversations' }).waitFor();
    await expectAccessible(page, 'list');
    await page.getByRole('link', { name: 'look-2' }).click();
    await atCursor(page, /suspension/);
    await expectAccessible(page, 'conversation');
    for (const name of [/^State/, /^Event/, /^Model call/, /^What if/]) await unfold(page, name);
    await page.getByText('From the audit').waitFor();
    await unfold(page, /^System prompt/);
    await expectAccessible(page, 'unfolded');
    await page.getByRole('button', { name: 'Delete …' }).click();
    await expectAccessible(page, 'deletion');
  },
);
