/** Acts of a person in the inbox of the web page, and the calls that wait there. */
import type { Locator, Page } from 'playwright';
import type { PageOptions, TestBrowser } from '../../../support/browser/browser.js';
import { until } from '../../../support/until.js';
import { DEV_SECRET } from '../api.js';
import type { World } from '../world.js';

/** Lines of a page's console while processes are gone: it repeats its requests. */
export const AWAY =
  /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_NETWORK/;

/** Opens the inbox, and signs in: as the developer, unless another token is given. */
export async function openInbox(
  browser: TestBrowser,
  url: string,
  { token = DEV_SECRET, ...options }: PageOptions & { readonly token?: string } = {},
): Promise<Page> {
  const page = await browser.open(`${url}/ui/inbox`, options);
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await live(page);
  return page;
}

export async function live(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
}

/** Begins a conversation with one call of the model that waits; `text` is what the model says before. */
export async function beginCall(
  world: World,
  id: string,
  call: { readonly name: string; readonly input: unknown; readonly text?: string },
) {
  const { name, input, text = 'One moment.' } = call;
  const message = `Please, for ${id}`;
  world.model.answer(message, ({ results }) =>
    results.length > 0 ? { text: 'Done.' } : { text, calls: [{ name, input }] },
  );
  const talk = world.talk(id);
  await talk.begin('support', message);
  const [waiting] = await talk.waitingCalls(1);
  if (waiting === undefined) throw new Error('no call waits');
  return { talk, toolCallId: waiting.toolCallId };
}

export async function beginRefund(world: World, id: string, paymentId = `p_${id}`) {
  return await beginCall(world, id, {
    ...{ name: 'payments.refund', input: { paymentId, cents: 7_500 } },
  });
}

/** The row of the conversation. */
export function row(page: Page, id: string): Locator {
  return page.locator('.row', { hasText: `${id} ·` });
}

/** Opens the call of the conversation in the detail, once its whole arguments are there. */
export async function openCall(page: Page, id: string): Promise<Locator> {
  await row(page, id).getByRole('button').click();
  const detail = page.locator('.detail', { hasText: `in conversation ${id}.` });
  await detail.locator('.colloquy-values').first().waitFor();
  return detail;
}

/** Resolves with the sentences on the person's answers, once one of them matches. */
export async function answered(page: Page, pattern: RegExp): Promise<readonly string[]> {
  return await until(
    `the page says ${pattern.source}`,
    async () => await page.locator('.answer p').allTextContents(),
    { holds: (texts) => texts.some((text) => pattern.test(text)), timeoutMs: 60_000 },
  );
}
