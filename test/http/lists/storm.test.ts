/** Pages with a list of conversations that are cut at any moment, over two APIs on one store. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { openLiveChannel } from '../../../src/store/live/sockets.js';
import { tenantKey } from '../../../src/store/ports/live.js';
import { Dice } from '../../support/dice.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { ListReader, outlineOf } from '../../support/networks/list-reader.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { keyed } from '../../support/samples/list-events.js';
import { closes, stamped, started, suspends, turn } from '../../support/samples/log-events.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const PAGES = 24;
const CONVERSATIONS = 40;
const STORM_MS = 6_000;
/** At least so many changes are made, however slow the machine is. */
const MADE = 150;
const FILTERS = ['', 'status=awaiting_input', 'status=active', 'agent=helper'];

/** An API process's parts: its own connection to the file, channel, reader and server. */
async function api(file: string) {
  const log = await openSqliteEventLog({ file });
  onTestFinished(() => log.close());
  const live = openLiveChannel({ file });
  onTestFinished(() => live.close());
  const reader = createStoreReader({ log, live, source: 'none' });
  const app = await startHttpApp({}, { reader, conversations: log });
  return { log, live, app };
}

/** All pages of a list. */
async function wholeList(url: string, query: string): Promise<readonly ConversationSnapshot[]> {
  const rows: ConversationSnapshot[] = [];
  for (let cursor = ''; ; ) {
    const response = await fetch(`${url}/v1/conversations?limit=15&${query}${cursor}`);
    const page = (await response.json()) as {
      conversations: readonly ConversationSnapshot[];
      nextCursor?: string;
    };
    rows.push(...page.conversations);
    if (page.nextCursor === undefined) return rows;
    cursor = `&cursor=${page.nextCursor}`;
  }
}

it('pages that are cut every 50 to 700 ms, over two APIs, end with the present list', {
  ...promise('G364'),
  timeout: patient(90_000),
}, async () => {
  const dice = new Dice(11);
  const file = join(temporaryFolder(), 'log.db');
  const apis = [await api(file), await api(file)] as const;
  const worker = await api(file);
  const open = new Map<string, { seq: number; calls: number; run: string }>();
  const hint = (moved: string): void => {
    // Some hints are lost.
    const of = { type: 'appended', ...tenantKey('default'), generation: 1, lastSeq: 0 } as const;
    if (!dice.oneIn(3)) worker.live.publish({ ...of, moved });
  };
  const append = async (id: string, bodies: readonly EventBody[]): Promise<void> => {
    const state = open.get(id) ?? { seq: 0, calls: 0, run: `r-${made}` };
    const events = stamped(bodies, { from: state.seq + 1 });
    await worker.log.append({ ...keyed(id), runId: state.run, events });
    open.set(id, { ...state, seq: state.seq + bodies.length, calls: state.calls + 1 });
    hint(id);
  };
  let made = 0;
  const move = async (): Promise<void> => {
    made += 1;
    const id = `c-${dice.below(CONVERSATIONS)}`;
    const state = open.get(id);
    if (state === undefined) await append(id, [started(keyed(id))]);
    else if (dice.oneIn(6)) {
      await worker.log.beginDeletion({ ...keyed(id), runIds: [state.run] });
      open.delete(id);
      hint(id);
    } else if (dice.oneIn(8)) await append(id, [closes()]);
    else {
      const name = `t${made}`;
      const waits = [...turn(name).slice(0, 2), suspends(name, `call-${made}`)];
      await append(id, dice.oneIn(2) ? waits : turn(name));
    }
  };

  let isStorm = true;
  const pages = Array.from({ length: PAGES }, (_, nth) => {
    const query = FILTERS[nth % FILTERS.length] ?? '';
    const url = (): string => dice.pick(apis).app.server.url;
    const page = new ListReader(
      () => `${url()}/v1/conversations/stream?${query}`,
      () => wholeList(url(), query),
    );
    const run = (async () => {
      while (isStorm) {
        const cut = setTimeout(() => page.cut(), 50 + dice.below(650));
        await page.read();
        clearTimeout(cut);
      }
      await page.read();
    })();
    return { page, query, run };
  });
  onTestFinished(async () => {
    isStorm = false;
    for (const { page } of pages) page.cut();
    await sleep(10);
    for (const { page } of pages) page.cut();
    await Promise.all(pages.map(({ run }) => run));
  });

  const endAt = performance.now() + STORM_MS;
  while (performance.now() < endAt || made < MADE) {
    await move();
    await sleep(dice.below(25));
  }
  isStorm = false;
  for (const { page, query } of pages) {
    const expected = (await wholeList(apis[0].app.server.url, query)).map(outlineOf).sort();
    await until('the page has the present list', () => page.shown, {
      timeoutMs: 5_000,
      holds: (shown) => JSON.stringify(shown) === JSON.stringify(expected),
    });
    expect(page.failures).toEqual([]);
    // Each page has continued, and has not read the list again.
    expect(page.told.filter((one) => one === 'ready' || one === 'reset').length).toBe(1);
  }
});
