/**
 * `npm run bench -- --only inbox`: the inbox of the web page in a browser, against Temporal, a worker and an API, with
 * 10,000 waiting calls: how soon it is there, and how soon a new call is. Then mixed calls that are decided by keys
 * alone, and two people who decide the same calls.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStack } from 'colloquy/dev';
import type { Page } from 'playwright';
import { startDevServer } from '../../test/support/servers/dev-server.js';
import { spreadOf } from '../shared/spread.js';
import { type InboxResult, WAITING } from './cells.js';
import { measureClearing, measureRaces } from './clearing.js';
import { fill } from './fill.js';
import { holds, Site } from './site.js';

const AGENTS = fileURLToPath(new URL('./agent.js', import.meta.url));

export interface InboxCounts {
  readonly waiting: number;
  readonly paints: number;
  readonly fresh: number;
  readonly cleared: number;
  readonly races: number;
}

export const INBOX: InboxCounts = {
  ...{ waiting: WAITING, paints: 10, fresh: 100, cleared: 100, races: 100 },
};
export const INBOX_QUICK: InboxCounts = {
  ...{ waiting: 500, paints: 2, fresh: 5, cleared: 10, races: 3 },
};

/** Starts everything that it needs. */
export async function measureInbox(counts: InboxCounts): Promise<InboxResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-inbox-'));
  const server = await startDevServer({ dbFile: join(dataDir, 'temporal.db') });
  const stack = await startStack({
    agentsModule: AGENTS,
    dataDir,
    apiPort: 0,
    temporalAddress: server.address,
    // One caller plays all people.
    env: { COLLOQUY_REQUEST_LIMIT: 'off' },
    onLine: (line, from) => {
      // No workflow runs the conversations that only the store has.
      if (/"level":(40|50|60)|ERROR|WARN/.test(line) && !line.includes('default/filled-'))
        console.error(`${from}: ${line}`);
    },
  });
  const site = await Site.open(stack);
  try {
    // Decided first: the calls that only the store has would fill the list.
    const cleared = await measureClearing(site, counts.cleared);
    console.error(`cleared: ${JSON.stringify(cleared)}`);
    const races = await measureRaces(site, counts.races);
    console.error(`races: ${JSON.stringify(races)}`);
    await fill(dataDir, counts.waiting - counts.fresh);
    const paints = await measurePaints(site, counts.paints);
    console.error(`paints: ${JSON.stringify(paints)}`);
    const fresh = spreadOf(await measureFresh(site, counts.fresh));
    return { waiting: counts.waiting, ...paints, fresh, cleared, races };
  } finally {
    await site.close();
    await stack.stop();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Notes the time of the frame that shows the first row. */
const FIRST_ROW = `new MutationObserver((_, observer) => {
  if (document.querySelector('.row') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { globalThis.firstRow = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`;

async function measurePaints(
  site: Site,
  count: number,
): Promise<Pick<InboxResult, 'firstPaint' | 'firstRow'>> {
  const [paint, row]: [number[], number[]] = [[], []];
  // The first reader of a tenant makes the API read its calls.
  for (let index = 0; index <= count; index += 1) {
    const page = await site.page('', FIRST_ROW);
    await holds(page, 'globalThis.firstRow !== undefined');
    const [first = Number.NaN, rows = Number.NaN] = await page.evaluate<readonly number[]>(
      `[performance.getEntriesByName('first-contentful-paint')[0]?.startTime, globalThis.firstRow]`,
    );
    await page.context().close();
    if (index === 0) {
      console.error(
        `the first page: ${first.toFixed(0)} ms to its paint, ${rows.toFixed(0)} to a row`,
      );
      continue;
    }
    paint.push(first);
    row.push(rows);
  }
  return { firstPaint: spreadOf(paint), firstRow: spreadOf(row) };
}

/** Notes the time of the first frame for each text of the button that says how many calls are new. */
const NEWS = `globalThis.shown = {};
new MutationObserver(() => {
  const text = document.querySelector('.fresh')?.textContent;
  if (text === undefined || text in globalThis.shown) return;
  globalThis.shown[text] = 0;
  requestAnimationFrame(() => setTimeout(() => { globalThis.shown[text] = Date.now(); }));
}).observe(document, { childList: true, subtree: true, characterData: true });`;

/** Milliseconds from the event of each new call to the frame that counts it. */
async function measureFresh(site: Site, count: number): Promise<readonly number[]> {
  const page = await site.page('', NEWS);
  await page.locator('.row').first().waitFor();
  const delays: number[] = [];
  for (let index = 1; index <= count; index += 1) {
    const id = `fresh-${index}`;
    await site.begin([{ id, name: 'bench.mail', input: { to: id, text: 'x' } }]);
    const shownAt = await timeOf(page, `${index} new`);
    const [event] = await site.events(id, 'suspension');
    if (event === undefined) throw new Error(`${id} has no call`);
    delays.push(shownAt - Date.parse(event.at));
  }
  await page.context().close();
  return delays;
}

async function timeOf(page: Page, text: string): Promise<number> {
  const shown = `globalThis.shown[${JSON.stringify(text)}]`;
  await holds(page, `${shown} > 0`);
  return await page.evaluate<number>(shown);
}
