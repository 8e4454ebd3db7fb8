/** Acts of a person in the chat of the web page. */
import type { Locator, Page } from 'playwright';
import type { PageOptions, TestBrowser } from '../../../support/browser/browser.js';
import { DEV_SECRET } from '../api.js';
import type { Talk } from '../talk.js';
import type { World } from '../world.js';
import { live } from './inbox.js';

/** Opens the chat with an agent, or one of its conversations, and signs in as the developer. */
export async function openChat(
  browser: TestBrowser,
  url: string,
  { path = 'support', ...options }: PageOptions & { readonly path?: string } = {},
): Promise<Page> {
  const page = await browser.open(`${url}/ui/chat/${path}`, options);
  await page.getByLabel('Token').fill(DEV_SECRET);
  await page.keyboard.press('Enter');
  await live(page);
  return page;
}

/** Writes a message, and sends it by Enter. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message to').fill(text);
  await page.keyboard.press('Enter');
}

/** The answers of the agent that are complete or being written. */
export function answers(page: Page): Locator {
  return page.locator('.of-agent .markdown');
}

/** The conversation that the address of the page names. */
export function talkOf(world: World, page: Page): Talk {
  return world.talk(decodeURIComponent(new URL(page.url()).pathname.split('/')[4] ?? ''));
}
