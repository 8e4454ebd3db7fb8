/** The example `space-page` in a real browser, with its agents in a worker, and its API and page in a process beside it. */
import type { Page, Route } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityFaults } from '../../support/browser/accessibility.js';
import { ofEach, type PageOptions, useBrowser } from '../../support/browser/browser.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { shown, untilShown, write } from '../support/pages/actions.js';
import { type Desk, startDesk } from '../support/pages/desk.js';

const browser = useBrowser();
let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.stop());

/** Opens the page, and waits until it shows the space as it is now. */
async function openDesk(options?: PageOptions): Promise<Page> {
  const page = await browser.open(desk.address, options);
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

const REFUND = 'Refund of 75.00 EUR for order 42';
const HELP = 'analyst (agent): I draw charts: ask me for the sales.';

/** The number of messages that the person of the page has not read, as the API has it. */
const UNREAD = `fetch('/v1/spaces/' + new URLSearchParams(location.search).get('space'))
  .then((response) => response.json()).then(({ unread }) => unread)`;

it('a text is answered by both agents, which the page shows without a reload, and after one', async () => {
  const page = await openDesk();
  await page.evaluate('window.opened = true');
  const { length: after } = await shown(page);
  await write(page, 'Hello');
  const texts = [
    'Ann: Hello',
    'support (agent): Hello! I make refunds, and I can look into your cart.',
    HELP,
  ];
  await untilShown(page, { after, texts });
  expect(await page.evaluate('window.opened')).toBe(true);
  await until('the page has marked them as read', () => page.evaluate(UNREAD), {
    holds: (unread) => unread === 0,
  });
  const before = await shown(page);
  await page.reload();
  await until('the same is shown again', () => shown(page), {
    holds: (again) => JSON.stringify(again) === JSON.stringify(before),
  });
  // The address does not keep the token, which a history or a screen would show.
  expect(page.url()).not.toContain('token');
});

it('a message that comes while a mark is on its way is marked as well', {
  ...promise('G419'),
}, async () => {
  const page = await openDesk();
  const { length: after } = await shown(page);
  const held: Route[] = [];
  await page.route('**/read', async (route) => {
    // The first alone waits.
    if (held.push(route) > 1) await route.continue();
  });
  await write(page, 'Hello');
  await until('a mark is on its way', () => held.length === 1);
  await write(page, 'Hello again');
  await until('both texts are answered', async () => (await shown(page)).slice(after), {
    holds: (messages) => messages.filter((text) => text === HELP).length === 2,
  });
  expect(held).toHaveLength(1);
  await held[0]?.continue();
  await until('all are marked', () => page.evaluate(UNREAD), { holds: (unread) => unread === 0 });
});

it('a refund waits until the keyboard approves it, and runs once', async () => {
  const page = await openDesk();
  const [{ length: after }, made] = [await shown(page), await desk.refunds()];
  await write(page, 'Please refund my order');
  const approve = page.getByRole('button', { name: 'Approve the refund' });
  await approve.waitFor();
  expect(await desk.refunds()).toBe(made);
  // Backwards from the field for texts: the refusal, then the approval.
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  expect(await page.locator(':focus').textContent()).toBe('Approve the refund');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  const texts = [
    'Ann: Please refund my order',
    `support (agent): refund: done: ${REFUND}`,
    'support (agent): Order 42 is refunded: 75.00 EUR.',
    HELP,
  ];
  await untilShown(page, { after, texts });
  expect(await desk.refunds()).toBe(made + 1);
  // The buttons are gone; the keyboard is still at the message.
  expect(await page.locator(':focus').textContent()).toContain(REFUND);
});

it('a refund that is denied does not run, and the agent says so', async () => {
  const page = await openDesk();
  const [{ length: after }, made] = [await shown(page), await desk.refunds()];
  await write(page, 'Refund it again');
  await page.getByRole('button', { name: 'Deny the refund' }).click();
  await until('the agent says so', async () => (await shown(page)).slice(after), {
    holds: (messages) =>
      ['support (agent): refund: failed', 'support (agent): That did not work'].every((beginning) =>
        messages.some((text) => text.startsWith(beginning)),
      ),
  });
  expect(await desk.refunds()).toBe(made);
});

it('a tool runs in the page, and its result reaches the agent', async () => {
  const page = await openDesk();
  const { length: after } = await shown(page);
  await write(page, 'What is in my cart?');
  const texts = [
    'Ann: What is in my cart?',
    'support (agent): cart.read: done: In the cart: 1',
    'support (agent): You have tea in your cart, for 4.20 EUR.',
    HELP,
  ];
  await untilShown(page, { after, texts });
});

it('a chart is drawn from the input of its call', promise('H49'), async () => {
  const page = await openDesk();
  await write(page, 'Show me the sales');
  const name = 'Sales of this week: Mon 12, Tue 19, Wed 7';
  await page.getByRole('img', { name }).waitFor();
  const heights = await ofEach<number>(page, 'rect', "Number(element.getAttribute('height'))");
  const [monday = 0, tuesday = 0, wednesday = 0] = heights;
  expect(heights).toHaveLength(3);
  expect([monday / tuesday, wednesday / tuesday]).toEqual([
    expect.closeTo(12 / 19),
    expect.closeTo(7 / 19),
  ]);
  await until('the agent answers', async () =>
    (await shown(page)).includes('analyst (agent): Tuesday was the best day.'),
  );
});

describe('while worker and API are killed', () => {
  const BUTTONS = 'Approve the refundDeny the refund';
  const AWAY = /ERR_(CONNECTION|EMPTY|INCOMPLETE|NETWORK|SOCKET)/;

  it('the page goes on without a reload: the approval counts once, and nothing is shown twice', {
    ...promise('G372'),
    timeout: patient(240_000),
  }, async () => {
    const page = await openDesk({ expected: AWAY });
    await page.evaluate('window.opened = true');
    const [{ length: after }, made] = [await shown(page), await desk.refunds()];
    await write(page, 'Refund my order, please');
    const approve = page.getByRole('button', { name: 'Approve the refund' });
    await approve.waitFor();
    await untilShown(page, {
      after,
      texts: [
        'Ann: Refund my order, please',
        `support (agent): refund: waits for an answer: ${REFUND}: ${BUTTONS}`,
        HELP,
      ],
    });
    // A wake that is under way in the killed worker is repeated when its lease has ended, after up to 20 seconds.
    await until('each agent is woken', async () => await desk.received('support'), {
      holds: (texts) => HELP.endsWith(texts.at(-1) ?? 'none'),
    });
    await desk.worker.kill();
    await desk.site.kill();
    await page.getByText('The connection is lost').waitFor();
    await approve.click();
    await write(page, 'Hello again');
    await page.getByText('is being sent').waitFor();
    await desk.site.start();
    await page.getByText('Live', { exact: true }).waitFor();
    await desk.worker.start();
    const refunded = `support (agent): refund: done: ${REFUND}`;
    const found = await until('both agents answer', async () => (await shown(page)).slice(after), {
      timeoutMs: 150_000,
      holds: (messages) =>
        messages.filter((text) => text === HELP).length === 2 &&
        messages.includes(refunded) &&
        ['Order 42 is refunded: 75.00 EUR.', 'Hello! I make refunds'].every((answer) =>
          messages.some((text) => text.startsWith('support') && text.includes(answer)),
        ),
    });
    for (const once of ['Ann: Refund my order, please', 'Ann: Hello again', refunded])
      expect(found.filter((text) => text === once)).toEqual([once]);
    expect(await desk.refunds()).toBe(made + 1);
    expect(await page.evaluate('window.opened')).toBe(true);
  });
});

it.each<PageOptions>([
  { colorScheme: 'light' },
  { colorScheme: 'dark' },
  { colorScheme: 'light', width: 320 },
  { colorScheme: 'dark', width: 320 },
])('axe finds nothing in the page with everything that it can show: %o', async (options) => {
  const page = await openDesk(options);
  await write(page, 'Refund one more order');
  await page.getByRole('button', { name: 'Approve the refund' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(options.width ?? 1_000);
  await page.getByRole('button', { name: 'Deny the refund' }).click();
  await page.getByRole('button', { name: 'Deny the refund' }).waitFor({ state: 'detached' });
});
