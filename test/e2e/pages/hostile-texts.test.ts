/** Texts of a space are text in the page, wherever they come from: they run nothing, and make no element. */
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { accessibilityFaults } from '../../support/browser/accessibility.js';
import { ofEach, useBrowser } from '../../support/browser/browser.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { type ShownSpace, startShownSpace } from '../support/pages/shown-space.js';

const browser = useBrowser();

const ATTACKS = [
  '<img src=x onerror="alert(1)">',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "</p></article><iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
  '<style>body { display: none }</style>',
  '<a href="javascript:alert(1)">[link](javascript:alert(1))</a>',
  '[link](javascript:alert(1)) ![picture](http://other.invalid/x.png) <http://other.invalid>',
  '\u202Etxt.exe\u202D \u2066 \u200F',
  '&lt;b&gt; &#x3c;b&#x3e; \\u003cb\\u003e ${alert(1)} {{alert(1)}}',
  '__proto__',
] as const;

/** The elements that the page makes. */
const KNOWN = [
  ...['ARTICLE', 'BDI', 'BUTTON', 'DETAILS', 'DIV', 'P', 'PRE', 'SUMMARY'],
  ...['rect', 'svg', 'text'],
];

async function openSpace(space: ShownSpace): Promise<Page> {
  const page = await browser.open(space.address);
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

/** Checks that the page has only elements and attributes that it makes itself. */
async function expectOwnElements(page: Page): Promise<void> {
  const inside = await ofEach<string>(page, '#messages *', 'element.tagName');
  expect([...new Set(inside)].filter((tagName) => !KNOWN.includes(tagName))).toEqual([]);
  const names = await ofEach<readonly string[]>(page, 'body *', 'element.getAttributeNames()');
  expect(names.flat().filter((name) => /^(on|href|src|style$)/.test(name))).toEqual([]);
}

/** Resolves with the exact texts of all elements of a kind, once there are so many. */
async function textsOf(page: Page, selector: string, count: number): Promise<readonly string[]> {
  return await until(
    `the page has ${count} of ${selector}`,
    async () => await page.locator(selector).allTextContents(),
    { holds: (texts) => texts.length === count },
  );
}

describe('markup in a space is shown as it was written', promise('H49'), () => {
  it('as the text of a message, and as the name of its author', async () => {
    const space = await startShownSpace();
    const page = await openSpace(space);
    for (const attack of ATTACKS) await space.text(attack, attack);
    expect(await textsOf(page, '#messages .text', ATTACKS.length)).toEqual(ATTACKS);
    expect(await textsOf(page, '#messages .author bdi', ATTACKS.length)).toEqual(ATTACKS);
    await expectOwnElements(page);
    // A text that turns the direction ends with its element: the next text is in order.
    for (const selector of ['.text', '.author bdi']) {
      const styles = await ofEach<string>(
        page,
        `#messages ${selector}`,
        'getComputedStyle(element).unicodeBidi',
      );
      expect(new Set(styles)).toEqual(new Set(['isolate']));
    }
  });

  it('as the name of a tool, its input, its output and its error', async () => {
    const space = await startShownSpace();
    for (const attack of ATTACKS) {
      const metadata = { toolName: attack, toolCallId: attack, input: { [attack]: [attack] } };
      await space.call({ status: 'complete', metadata: { ...metadata, output: attack } });
      const error = { code: attack, message: attack };
      await space.call({ status: 'error', metadata: { ...metadata, input: attack, error } });
    }
    const page = await openSpace(space);
    const names = await textsOf(page, '#messages .state bdi', 2 * ATTACKS.length);
    expect(names).toEqual(ATTACKS.flatMap((attack) => [attack, attack]));
    const pres = await textsOf(page, '#messages pre', 3 * ATTACKS.length);
    expect(pres).toEqual(
      ATTACKS.flatMap((attack) => [
        JSON.stringify({ [attack]: [attack] }, undefined, 2),
        ...[attack, attack],
      ]),
    );
    expect(await textsOf(page, '#messages .text', ATTACKS.length)).toEqual(ATTACKS);
    await expectOwnElements(page);
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('in the calls that the page draws, and in fields of another type than they have', async () => {
    const space = await startShownSpace();
    for (const attack of ATTACKS) {
      const show = (toolName: string, metadata: object): Promise<void> =>
        space.call({ status: 'complete', metadata: { toolName, toolCallId: 'c', ...metadata } });
      await show('refund', { input: { order: attack, cents: 100 } });
      await show('refund', { input: { order: { toString: attack }, cents: attack } });
      await show('chart.show', { input: { title: attack, bars: [{ label: attack, value: 1 }] } });
      await show('chart.show', { input: { title: [attack], bars: attack } });
      await show('cart.read', { input: attack, output: { items: [attack] } });
      await show('cart.read', { input: null, output: attack });
    }
    const page = await openSpace(space);
    await page.getByRole('button', { name: 'Older messages' }).click();
    const labels = await textsOf(page, '#messages svg text:last-child', ATTACKS.length);
    expect(labels).toEqual(ATTACKS);
    await expectOwnElements(page);
  });

  it('at the greatest lengths that a space takes', async () => {
    const space = await startShownSpace();
    const page = await openSpace(space);
    const text = '<b onclick=alert(1)>'.repeat(1_638);
    const output = '<i>'.repeat(21_000);
    await space.text(text, '<u>'.repeat(66));
    await space.call({
      status: 'complete',
      metadata: { toolName: 'any', toolCallId: 'c', input: 1, output },
    });
    expect(await textsOf(page, '#messages .text', 1)).toEqual([text]);
    expect(await textsOf(page, '#messages pre', 2)).toEqual(['1', output]);
    await expectOwnElements(page);
    await page.getByText('Output').click();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(1_000);
  });
});

it('a text that the space refuses stays in the page, as text, until the person discards it', async () => {
  const space = await startShownSpace();
  const page = await browser.open(space.address, { expected: /status of 422/ });
  const text = '<b>'.repeat(22_000);
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const discard = page.getByRole('button', { name: 'Discard' });
  await discard.waitFor();
  expect(await page.locator('#problem').textContent()).toMatch(/text/);
  expect(await page.locator('#outgoing .text').textContent()).toBe(text);
  expect(await page.locator('#outgoing b').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await discard.click();
  await discard.waitFor({ state: 'detached' });
  expect(await page.locator('#messages article').count()).toBe(0);
});

it('a script that assigns markup is stopped by the policy of the page', async () => {
  const space = await startShownSpace();
  const page = await browser.open(space.address, {
    expected: /require-trusted-types-for|TrustedHTML/,
  });
  const assigned = page.evaluate('document.body.innerHTML = "<img src=x>"');
  await expect(assigned).rejects.toThrow(/TrustedHTML/);
  expect(await page.locator('img').count()).toBe(0);
});
