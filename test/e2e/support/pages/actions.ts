/** Acts of a person in the page of the example `space-page`. */

import type { Page } from 'playwright';
import { expect } from 'vitest';
import { ofEach } from '../../../support/browser/browser.js';
import { until } from '../../../support/until.js';

/** Writes a text with the keyboard, and sends it. */
export async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).focus();
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

/** The messages that the page shows, each with its author: `support (agent): Hello!`. */
export async function shown(page: Page): Promise<readonly string[]> {
  const expression = "[...element.children].map((child) => child.textContent).join(': ')";
  return await ofEach<string>(page, '#messages article', expression);
}

/** Resolves once the page shows these messages behind the first ones, in any order, and no others. */
export async function untilShown(
  page: Page,
  { after, texts }: { readonly after: number; readonly texts: readonly string[] },
): Promise<void> {
  const look = async (): Promise<readonly string[]> => (await shown(page)).slice(after).sort();
  const seen = await until(`the page shows ${texts.join(' | ')}`, look, {
    holds: (found) => found.length >= texts.length && texts.every((text) => found.includes(text)),
    timeoutMs: 60_000,
  });
  expect(seen).toEqual([...texts].sort());
}
