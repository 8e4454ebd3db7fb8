/** A person's evening by keys alone: mixed calls decided one after the other, and two people who decide the same ones. */
import type { Page } from 'playwright';
import type { InboxResult } from './cells.js';
import type { Call, Site } from './site.js';

/** A person thinks so long at each call. */
const THOUGHT_SECONDS = 2;
const GIVE_UP_MS = 120_000;

type Decision = 'approve' | 'deny' | 'answer';

function callAt(index: number): Call {
  const id = `clear-${String(index).padStart(3, '0')}`;
  if (index % 5 === 4)
    return { id, name: 'bench.ask', input: { question: `Which size? ${index}` } };
  if (index % 5 === 3)
    return {
      id,
      name: 'bench.mail',
      input: { to: index % 2 === 0 ? 'a@ours' : 'b@other', text: 'x' },
    };
  return { id, name: 'bench.pay', input: { invoice: `I-${index}`, cents: (index * 137) % 1_000 } };
}

/** By the arguments that the page shows. */
function decisionOf(text: string): Decision {
  if (text.includes('Which size?')) return 'answer';
  if (text.includes('@')) return text.includes('@ours') ? 'approve' : 'deny';
  return Number(/cents(\d+)/.exec(text)?.[1]) < 600 ? 'approve' : 'deny';
}

export async function measureClearing(site: Site, count: number): Promise<InboxResult['cleared']> {
  const calls = Array.from({ length: count }, (_, index) => callAt(index));
  await site.begin(calls);
  const page = await site.page('?search=clear-');
  await rowsShown(page, count);
  const made = new Map<string, Decision>();
  const begun = performance.now();
  await page.keyboard.press('j');
  for (let index = 0; index < count; index += 1) {
    const { id, decision } = await readOpen(page, made);
    made.set(id, decision);
    await decide(page, decision, id);
  }
  const seconds = (performance.now() - begun) / 1_000;
  await allSent(page);
  let wrong = 0;
  for (const [id, decision] of made) {
    const logged = await site.decisions(id);
    const { resolution } = logged[0] ?? {};
    const isRight =
      logged.length === 1 &&
      resolution?.type === decision &&
      (decision !== 'deny' || resolution.reason === `no, ${id}`);
    if (!isRight) wrong += 1;
  }
  await page.context().close();
  const withThought = seconds + THOUGHT_SECONDS * count;
  return { calls: made.size, seconds, withThought, wrong };
}

/** Waits until the open call is one that has not been decided, with all its arguments. */
async function readOpen(
  page: Page,
  made: ReadonlyMap<string, Decision>,
): Promise<{ readonly id: string; readonly decision: Decision }> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (;;) {
    const [hint = '', values = ''] = await page.evaluate<readonly string[]>(
      `[document.querySelector('.detail header .hint')?.textContent ?? '',
        document.querySelector('.detail .colloquy-values')?.textContent ?? '']`,
    );
    const id = /in conversation (clear-\d+)/.exec(hint)?.[1];
    if (id !== undefined && !made.has(id) && values !== '') {
      const decision = decisionOf(values);
      const isReady = `document.querySelector('#${decision === 'answer' ? 'answer' : 'decision'}') !== null`;
      if (await page.evaluate<boolean>(isReady)) return { id, decision };
    }
    if (performance.now() > giveUpAt) throw new Error(`no call to decide: ${hint}`);
    await page.waitForTimeout(10);
  }
}

async function decide(page: Page, decision: Decision, id: string): Promise<void> {
  if (decision === 'approve') {
    await page.keyboard.press('a');
    return;
  }
  await page.keyboard.press(decision === 'deny' ? 'd' : 'r');
  await page.keyboard.type(decision === 'deny' ? `no, ${id}` : '42');
  await page.keyboard.press('Control+Enter');
}

async function rowsShown(page: Page, count: number): Promise<void> {
  const isThere = `[...document.querySelectorAll('.filters button')].some((button) =>
    button.textContent === 'Select all ${count} shown')`;
  for (;;) {
    if (await page.evaluate<boolean>(isThere)) return;
    const fresh = page.locator('.fresh');
    if ((await fresh.count()) > 0) await fresh.click();
    await page.waitForTimeout(50);
  }
}

async function allSent(page: Page): Promise<void> {
  const waiting = `[...document.querySelectorAll('.answer.kept')].length`;
  while ((await page.evaluate<number>(waiting)) > 0) await page.waitForTimeout(100);
}

/** Two pages decide the same calls at the same moments. */
export async function measureRaces(site: Site, count: number): Promise<InboxResult['races']> {
  const ids = Array.from({ length: count }, (_, index) => `race-${String(index).padStart(3, '0')}`);
  await site.begin(ids.map((id) => ({ id, name: 'bench.mail', input: { to: id, text: 'x' } })));
  const pages = [await site.page('?search=race-'), await site.page('?search=race-')];
  for (const page of pages) await rowsShown(page, count);
  let right = 0;
  for (const id of ids) {
    const told = await Promise.all(pages.map((page) => race(page, id)));
    const counts = told.filter((text) => text.endsWith('Approved'));
    const late = told.filter((text) => /Decided by \S+ (?:just now|\d+ s ago): /.test(text));
    if (counts.length === 1 && late.length === 1) right += 1;
    else console.error(`race ${id}: ${told.join(' | ')}`);
  }
  let twice = 0;
  for (const id of ids) if ((await site.decisions(id)).length !== 1) twice += 1;
  for (const page of pages) await page.context().close();
  return { calls: count, right, twice };
}

/** Approves the call and sends it at once. Resolves with the sentence on it. */
async function race(page: Page, id: string): Promise<string> {
  await page
    .locator('.row', { hasText: `${id} ·` })
    .getByRole('button')
    .click();
  await page.locator('.detail', { hasText: `in conversation ${id}.` }).waitFor();
  await page.keyboard.press('a');
  const answer = page.locator('.answer', { hasText: id });
  // The other page may have been faster, and then this answer was sent already.
  await answer
    .getByRole('button', { name: 'Send now' })
    .click({ timeout: 500 })
    .catch(() => undefined);
  await answer.getByRole('button', { name: 'Dismiss' }).waitFor();
  const text = (await answer.locator('p').textContent()) ?? '';
  await answer.getByRole('button', { name: 'Dismiss' }).click();
  return text.trim();
}
