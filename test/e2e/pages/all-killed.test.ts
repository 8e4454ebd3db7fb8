/** Three pages of one conversation, while Temporal, the worker and the API are killed and started again. */
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.js';
import { patient } from '../../support/patience.js';
import { type DevServer, freePort, startDevServer } from '../../support/servers/dev-server.js';
import { answers, openChat } from '../support/pages/chat.js';
import { AWAY, answered, beginRefund, live, openCall, openInbox } from '../support/pages/inbox.js';
import { atCursor, openStudio } from '../support/pages/studio.js';
import { startWorld, type World } from '../support/world.js';

const browser = useBrowser();
/** The API answers 503 while Temporal is gone. */
const EXPECTED = new RegExp(`${AWAY.source}|status of 503`);
const ID = 'all-1';

let world: World;
let restarted: DevServer | undefined;
beforeAll(async () => {
  world = await startWorld();
}, patient(180_000));
afterAll(async () => {
  await restarted?.stop();
  await world.stop();
});

it(
  'no page needs a reload, nothing is shown twice, and the approval counts once',
  async () => {
    const port = await freePort();
    const api = await world.startApi(port);
    const { talk } = await beginRefund(world, ID);
    const options = { expected: EXPECTED } as const;
    const inbox = await openInbox(browser, api.url, options);
    await openCall(inbox, ID);
    const chat = await openChat(browser, api.url, { ...options, path: `support/${ID}` });
    const studio = await openStudio(browser, api.url, { ...options, path: `/${ID}` });
    await atCursor(studio, /suspension/);
    const pages = [inbox, chat, studio];
    for (const page of pages) await page.evaluate('globalThis.marked = true');

    await world.server.kill();
    await inbox.bringToFront();
    await inbox.keyboard.press('a');
    await inbox.getByRole('button', { name: 'Send now' }).click();
    await answered(inbox, /it is asked again until there is one/);
    await Promise.all([api.kill(), world.stack.worker().kill()]);
    for (const page of pages) await page.getByText('The API does not answer').first().waitFor();

    const { dbFile, port: temporalPort } = world.server;
    restarted = await startDevServer({ dbFile, port: temporalPort });
    await world.startApi(port);
    await world.stack.startWorker();
    for (const page of pages) await live(page);
    await answered(inbox, /Approved|your answer is kept/);
    await talk.ended();
    await shownOnce(chat, 'Done.');
    await atCursor(studio, /turn ended/);
    expect(await talk.eventsOf('resolution')).toHaveLength(1);
    expect(await world.lines('refunds.jsonl')).toHaveLength(1);
    for (const page of pages) expect(await page.evaluate('globalThis.marked')).toBe(true);
  },
  patient(240_000),
);

async function shownOnce(page: Page, text: string): Promise<void> {
  await answers(page).getByText(text, { exact: true }).waitFor();
  const shown = await answers(page).allTextContents();
  expect(shown.filter((one) => one.trim() === text)).toHaveLength(1);
}
