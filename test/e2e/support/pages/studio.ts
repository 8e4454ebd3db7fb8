/** Acts of a person in the studio of the web page. */
import type { Page } from 'playwright';
import type { PageOptions, TestBrowser } from '../../../support/browser/browser.js';
import { DEV_SECRET } from '../api.js';
import { live } from './inbox.js';

/** Opens the list, or a conversation below it, and signs in as the developer. */
export async function openStudio(
  browser: TestBrowser,
  url: string,
  { path = '', ...options }: PageOptions & { readonly path?: string } = {},
): Promise<Page> {
  const page = await browser.open(`${url}/ui/conversations${path}`, options);
  await page.getByLabel('Token').fill(DEV_SECRET);
  await page.keyboard.press('Enter');
  await live(page);
  return page;
}

/** The event at the cursor: `5 assistant message, turn 1 of 1`. */
export async function atCursor(page: Page, pattern: RegExp): Promise<string> {
  const cursor = page.locator('output.cursor', { hasText: pattern });
  await cursor.waitFor();
  return await cursor.innerText();
}

/** Opens a part of the page that is folded. */
export async function unfold(page: Page, name: RegExp): Promise<void> {
  await page.locator('summary', { hasText: name }).first().click();
}
