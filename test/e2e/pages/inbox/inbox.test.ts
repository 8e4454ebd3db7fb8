/** The inbox of the web page, in a browser, against Temporal, workers and APIs that run as processes of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { freePort } from '../../../support/servers/dev-server.js';
import { until } from '../../../support/until.js';
import {
  AWAY,
  answered,
  beginCall,
  beginRefund,
  live,
  openCall,
  openInbox,
  row,
} from '../../support/pages/inbox.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

describe('a person decides in the inbox', () => {
  it('by keyboard alone: approves, takes back, denies with a reason', async () => {
    const { talk } = await beginRefund(world, 'keys-1');
    const page = await openInbox(browser, world.apiUrl);
    await row(page, 'keys-1').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('keys-');
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
    await page.locator('.detail .colloquy-values').waitFor();
    await page.locator('.row button:focus').waitFor();
    for (const key of ['Enter', 'Escape']) await page.keyboard.press(key);
    expect(await page.locator('.answer').count()).toBe(0);
    await page.keyboard.press('a');
    await answered(page, /Will be sent/);
    await page.keyboard.press('u');
    await until(
      'the answer is taken back',
      async () => (await page.locator('.answer').count()) === 0,
    );
    await page.keyboard.press('d');
    await page.keyboard.type('not this one');
    await page.keyboard.press('Escape');
    expect(await page.locator('.answer').count()).toBe(0);
    await page.keyboard.press('d');
    await page.keyboard.press('Control+Enter');
    await answered(page, /Denied/);
    await talk.ended();
    const [decision] = await talk.eventsOf('resolution');
    expect(decision).toMatchObject({
      resolution: { type: 'deny', reason: 'not this one' },
      actor: { id: 'developer', verified: false },
    });
    expect(await talk.eventsOf('resolution')).toHaveLength(1);
  });

  it('by mouse: sees who asked, what the model said, all arguments, and approves', {
    ...promise('A53'),
  }, async () => {
    const { talk } = await beginCall(world, 'mouse-1', {
      ...{ name: 'payments.refund', input: { paymentId: 'p_mouse', cents: 125 } },
      text: 'The parcel is lost, so I refund it.',
    });
    const page = await openInbox(browser, world.apiUrl);
    const detail = await openCall(page, 'mouse-1');
    const text = await detail.textContent();
    for (const part of ['Money leaves the house', 'developer asked', 'p_mouse', '125'])
      expect(text).toContain(part);
    await detail.getByText('The parcel is lost, so I refund it.').waitFor();
    await detail.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await answered(page, /Approved/);
    await talk.ended();
    expect(await world.lines('refunds.jsonl')).toContainEqual(
      expect.objectContaining({ paymentId: 'p_mouse', cents: 125 }),
    );
  });

  it('answers a form, which names the fields that break a rule', promise('A53'), async () => {
    const { talk } = await beginCall(world, 'form-1', {
      ...{ name: 'customer.ask', input: { question: 'Which size?' } },
    });
    const page = await openInbox(browser, world.apiUrl);
    const detail = await openCall(page, 'form-1');
    await page.keyboard.press('r');
    await page.keyboard.press('Control+Enter');
    await detail.getByText('answer is required').waitFor();
    await page.keyboard.type('42');
    await page.keyboard.press('Enter');
    expect(await page.locator('.answer').count()).toBe(0);
    await page.keyboard.press('Control+Enter');
    await answered(page, /Answered/);
    await talk.ended();
    expect(await talk.eventsOf('resolution')).toMatchObject([
      { resolution: { type: 'answer', value: { answer: '42' } } },
    ]);
  });

  it('several calls at once, each with a verdict of its own', promise('G377'), async () => {
    const talks = [];
    for (const id of ['bulk-1', 'bulk-2', 'bulk-3'])
      talks.push((await beginRefund(world, id)).talk);
    const page = await openInbox(browser, world.apiUrl);
    await page.getByLabel('Search').fill('bulk-');
    for (const id of ['bulk-1', 'bulk-2']) await row(page, id).getByRole('checkbox').check();
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog', { name: 'Approve 2 calls?' });
    await dialog.getByText('2 payments.refund').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.locator('.answer').count()).toBe(0);
    await page.keyboard.press('a');
    await dialog.waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await page.locator('.answer').count()).toBe(0);
    await page.getByRole('button', { name: 'Select all 3 shown' }).click();
    await row(page, 'bulk-3').getByRole('checkbox').uncheck();
    await page.keyboard.press('d');
    await page.keyboard.type('not today');
    await page.keyboard.press('Control+Enter');
    await answered(page, /2: Denied/);
    await page.locator('.verdicts summary').click();
    const verdicts = await page.locator('.verdicts li').allTextContents();
    expect(verdicts.sort()).toEqual([
      expect.stringMatching(/bulk-1: Denied$/),
      expect.stringMatching(/bulk-2: Denied$/),
    ]);
    await talks[0]?.ended();
    expect(await talks[0]?.eventsOf('resolution')).toMatchObject([
      { resolution: { type: 'deny', reason: 'not today' } },
    ]);
    expect(await talks[2]?.eventsOf('resolution')).toEqual([]);
  });
});

describe('rows', () => {
  it('stay where they are: new calls wait behind a button, and a call that ended keeps its place', async () => {
    const first = await beginRefund(world, 'rows-1');
    await beginRefund(world, 'rows-2');
    const page = await openInbox(browser, world.apiUrl);
    await page.getByLabel('Search').fill('rows-');
    await row(page, 'rows-2').waitFor();
    await beginRefund(world, 'rows-3');
    await first.talk.resolve(first.toolCallId, { type: 'deny' });
    await page.getByRole('button', { name: '1 new, 1 done' }).waitFor();
    const shown = async () => await page.locator('.row .line.hint').allTextContents();
    expect(await shown()).toEqual([
      expect.stringContaining('rows-1'),
      expect.stringContaining('rows-2'),
    ]);
    await page.getByRole('button', { name: '1 new, 1 done' }).click();
    expect(await shown()).toEqual([
      expect.stringContaining('rows-2'),
      expect.stringContaining('rows-3'),
    ]);
  });
});

describe('an answer counts once', promise('G375'), () => {
  it('of two pages, one is accepted, and the other says who was first', async () => {
    const { talk } = await beginRefund(world, 'race-1');
    const pages = [];
    for (const _ of [1, 2]) pages.push(await openInbox(browser, world.apiUrl));
    for (const page of pages) await openCall(page, 'race-1');
    for (const page of pages) await page.keyboard.press('a');
    await Promise.all(
      pages.map((page) =>
        page
          .getByRole('button', { name: 'Send now' })
          .click()
          .catch(() => undefined),
      ),
    );
    const texts = [];
    for (const page of pages) texts.push((await answered(page, /Approved|Decided/)).join());
    expect(texts.sort()).toEqual([
      expect.stringContaining('Approved'),
      expect.stringMatching(/Decided by developer (?:just now|\d+ s ago): /),
    ]);
    await talk.ended();
    expect(await talk.eventsOf('resolution')).toHaveLength(1);
  });

  it(
    'given while the API restarts and no worker is up: without a reload, and sent once',
    async () => {
      const port = await freePort();
      const api = await world.startApi(port);
      const { talk } = await beginRefund(world, 'kill-1');
      const page = await openInbox(browser, api.url, { expected: AWAY });
      await openCall(page, 'kill-1');
      await api.kill();
      await page.getByText('The API does not answer').first().waitFor();
      await page.keyboard.press('a');
      await answered(page, /it is asked again until there is one/);
      await world.stack.worker().kill();
      await world.startApi(port);
      await answered(page, /No worker is up; your answer is kept/);
      await live(page);
      await world.stack.startWorker();
      await talk.ended();
      const refunds = await world.lines('refunds.jsonl');
      expect(refunds.filter(({ paymentId }) => paymentId === 'p_kill-1')).toHaveLength(1);
      expect(await talk.eventsOf('resolution')).toHaveLength(1);
      await page.getByRole('button', { name: /1 done/ }).waitFor();
    },
    patient(180_000),
  );

  it('held when the page is left: sent at once', async () => {
    const { talk } = await beginRefund(world, 'left-1');
    const page = await openInbox(browser, world.apiUrl);
    await openCall(page, 'left-1');
    await page.keyboard.press('a');
    await answered(page, /Will be sent/);
    await page.goto(`${world.apiUrl}/healthz`);
    await talk.ended();
    expect(await talk.eventsOf('resolution')).toHaveLength(1);
  });
});
