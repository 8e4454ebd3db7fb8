/** The looks of a page, and the check that a state of it is accessible. */
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { accessibilityFaults } from '../../../support/browser/accessibility.js';
import { ofEach } from '../../../support/browser/browser.js';

/** Each state of the page is accessible in each of them. */
export const LOOKS = [
  { colorScheme: 'light', width: 1_000, zoom: 1 },
  { colorScheme: 'dark', width: 1_000, zoom: 1 },
  { colorScheme: 'light', width: 320, zoom: 1 },
  { colorScheme: 'dark', width: 320, zoom: 1 },
  { colorScheme: 'light', width: 1_000, zoom: 2 },
  { colorScheme: 'dark', width: 1_000, zoom: 2 },
] as const;

/** Checks the page, and that nothing needs a bar to scroll sideways. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  expect(await accessibilityFaults(page), state).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  if ((await page.evaluate<number>(overflow)) === 0) return;
  const ends =
    'element.tagName + "." + element.className + " " + element.getBoundingClientRect().right';
  expect(await ofEach<string>(page, 'body *', ends), state).toEqual([]);
}
