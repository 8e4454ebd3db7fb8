/** Acts of a person in the inbox beside decisions: edits, remembers, snoozes, goes through views and commands. */
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';
import {
  answered,
  beginCall,
  beginRefund,
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

async function command(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Command' }).waitFor();
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

describe('arguments', () => {
  it('are edited in the form of the tool, checked at once, and shown as a difference', {
    ...promise('G376'),
  }, async () => {
    const { talk } = await beginRefund(world, 'edit-1');
    const page = await openInbox(browser, world.apiUrl);
    const detail = await openCall(page, 'edit-1');
    await page.keyboard.press('e');
    const cents = detail.getByLabel('cents');
    await cents.fill('-1');
    await detail.getByText(/cents must be at least/).waitFor();
    expect(await detail.getByRole('button', { name: 'Approve with' }).isDisabled()).toBe(true);
    await cents.fill('5000');
    expect(await detail.locator('.colloquy-change').allTextContents()).toEqual([
      expect.stringMatching(/^centsbefore: 7500 → after: 5000$/),
    ]);
    // The key of the list does not approve the arguments as they were.
    await row(page, 'edit-1').getByRole('button').focus();
    await page.keyboard.press('a');
    expect(await page.locator('.answer').count()).toBe(0);
    await page.keyboard.press('Enter');
    expect(await page.locator('.answer').count()).toBe(0);
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Send now' }).click();
    await answered(page, /Approved/);
    await talk.ended();
    expect(await world.lines('refunds.jsonl')).toContainEqual(
      expect.objectContaining({ paymentId: 'p_edit-1', cents: 5_000 }),
    );
  });

  it('are what a remembered decision is for, in words', async () => {
    const { talk } = await beginRefund(world, 'rule-1');
    const page = await openInbox(browser, world.apiUrl);
    const detail = await openCall(page, 'rule-1');
    await detail.getByLabel('Remember the decision').selectOption('conversation');
    await detail.getByLabel('cents = 7500').check();
    await detail
      .getByText('later calls of payments.refund in this conversation, with cents = 7500')
      .waitFor();
    await row(page, 'rule-1').getByRole('button').focus();
    await page.keyboard.press('a');
    await page.getByRole('button', { name: 'Send now' }).click();
    await answered(page, /Approved/);
    await talk.ended();
    expect(await talk.eventsOf('rule_remembered')).toMatchObject([
      { rule: { decision: 'approve', for: 'conversation', match: { '/cents': 7_500 } } },
    ]);

    // The next call has other arguments, so it waits, beside the decision on the first, which is taken back.
    const message = 'Another one';
    world.model.answer(message, ({ results }) =>
      results.length > 1
        ? { text: 'Done.' }
        : { calls: [{ name: 'payments.refund', input: { paymentId: 'p_2', cents: 7_600 } }] },
    );
    await talk.begin('support', message);
    await page.getByRole('button', { name: /new/ }).click();
    const next = await openCall(page, 'rule-1');
    await next.getByRole('button', { name: /^Revoke: .*cents = 7500/ }).click();
    await next.getByText('Revoked: later calls ask again.').waitFor();
    expect(await talk.recorded('rule_revoked')).toHaveLength(1);
    expect(await next.getByRole('button', { name: /^Revoke/ }).count()).toBe(0);
  });
});

describe('views', () => {
  it('are the address: a reload and the way back keep them', async () => {
    await beginRefund(world, 'view-1');
    const page = await openInbox(browser, world.apiUrl);
    await row(page, 'view-1').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    const pressed = page.locator('.views [aria-pressed="true"]');
    await until('the view is shown', async () =>
      (await pressed.textContent())?.includes('Expiring'),
    );
    expect(page.url()).toContain('view=expiring');
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await pressed.textContent()).toContain('Expiring');
    await page.goBack();
    await until('the view before', async () => (await pressed.textContent())?.startsWith('Mine'));
    await command(page, 'unknown outcome');
    await until('the view of the command', async () =>
      (await pressed.textContent())?.startsWith('Unknown'),
    );
    await command(page, 'may answer by');
    await page.getByText('No call waits here.').waitFor();
  });

  it('without snoozed calls, which are in a view of their own, and come back', async () => {
    await beginRefund(world, 'snooze-1');
    const page = await openInbox(browser, world.apiUrl);
    await openCall(page, 'snooze-1');
    await page.keyboard.press('s');
    await page.keyboard.press('Enter');
    await row(page, 'snooze-1').waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await row(page, 'snooze-1').count()).toBe(0);
    await page.getByRole('button', { name: /^Snoozed 1/ }).click();
    const detail = await openCall(page, 'snooze-1');
    await detail.getByRole('button', { name: 'Show again' }).click();
    await page.getByRole('button', { name: /^Mine/ }).click();
    await row(page, 'snooze-1').waitFor();
  });
});

describe('the open call', () => {
  it('that another person decides says so, and keeps what was typed', async () => {
    const { talk, toolCallId } = await beginRefund(world, 'other-1');
    const page = await openInbox(browser, world.apiUrl);
    const detail = await openCall(page, 'other-1');
    await page.keyboard.press('d');
    await page.keyboard.type('half a reas');
    await talk.resolve(toolCallId, { type: 'deny' });
    await detail.getByText(/Decided by \S+ (just now|\d+ s ago): denied\./).waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('half a reas');
    await page.keyboard.press('Control+Enter');
    expect(await page.locator('.answer').count()).toBe(0);
  });

  it('shows what the model read before, and whether that can be trusted', async () => {
    await beginCall(world, 'said-1', {
      ...{
        name: 'payments.refund',
        input: { paymentId: 'p_said', cents: 1 },
        text: 'I refund it.',
      },
    });
    const page = await openInbox(browser, world.apiUrl);
    const detail = await openCall(page, 'said-1');
    await detail.locator('.said').nth(1).waitFor();
    expect(await detail.locator('.said').allTextContents()).toEqual([
      expect.stringMatching(/developer untrusted: a person wrote this, identity not proven/),
      expect.stringMatching(/Model the model wrote this.*I refund it\./),
    ]);
  });
});

it('a new call is one polite sentence for a screen reader', async () => {
  const page = await openInbox(browser, world.apiUrl);
  const news = page.locator('.news');
  expect([await news.getAttribute('aria-live'), await news.textContent()]).toEqual(['polite', '']);
  await beginRefund(world, 'news-1');
  await until('the sentence', async () => await news.textContent(), {
    holds: (text) => /^New: payments\.refund, [^.]*for developer, until .*\.$/.test(text ?? ''),
  });
});
