/** The looks of a page, and the check that a state of it is accessible. */
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { accessibilityFaults } from '../../../support/browser/accessibility.js';
import { ofEach } from '../../../support/browser/browser.js';

/** Checks the page, and that nothing needs a bar to scroll sideways. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  expect(await accessibilityFaults(page), state).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  if ((await page.evaluate<number>(overflow)) === 0) return;
  const ends =
    'element.tagName + "." + element.className + " " + element.getBoundingClientRect().right';
  expect(await ofEach<string>(page, 'body *', ends), state).toEqual([]);
}
