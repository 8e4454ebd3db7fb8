/** The operations page as a person opens it. */
import type { Locator, Page } from 'playwright';
import type { PageOptions, TestBrowser } from '../../../support/browser/browser.js';
import { DEV_SECRET } from '../api.js';

export async function openOperations(
  browser: TestBrowser,
  url: string,
  options: PageOptions = {},
): Promise<Page> {
  const page = await browser.open(`${url}/ui/operations`, options);
  await page.getByLabel('Token').fill(DEV_SECRET);
  await page.keyboard.press('Enter');
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

/** The row of the worker with this process id, once it is in this state. */
export function workerRow(page: Page, pid: number, state: string): Locator {
  return page
    .getByRole('row')
    .filter({ has: page.locator('code', { hasText: new RegExp(`^${pid}@`) }) })
    .filter({ has: page.locator('.worker', { hasText: new RegExp(`^${state}`) }) });
}
