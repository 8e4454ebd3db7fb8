/**
 * The page of the Temporal UI on a real server: the test pastes its commands into a shell, and has the UI render its
 * text.
 */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/protocol/values/json.js';
import { promise } from '../support/promise.js';
import {
  type DevServer,
  freePort,
  startDevServer,
  temporalDev,
} from '../support/servers/dev-server.js';
import {
  expectedAnswers,
  pasteAll,
  recordedAnswers,
  type ShopTalk,
  waitingShop,
} from '../support/started-engines/waiting-shop.js';
import { temporaryFolder } from '../support/temporary.js';
import { commandsOn, HOSTILE } from '../support/waits-by-hand.js';

let server: DevServer;
let uiUrl = '';
beforeAll(async () => {
  const uiPort = await freePort();
  uiUrl = `http://127.0.0.1:${uiPort}`;
  server = await startDevServer({ uiPort });
});
afterAll(() => server.stop());

async function pageOf({ engine, talk }: ShopTalk): Promise<string> {
  const query = '__temporal_workflow_metadata';
  const { currentDetails } = await engine.query<{ currentDetails?: string }>(talk.id, query);
  return currentDetails ?? '';
}

test('every command on the page answers its call as printed, as any permitted actor, until no call waits', {
  ...promise('G260'),
}, async () => {
  const shop = await waitingShop({ cents: 900 }, { address: server.address });
  const bin = temporaryFolder();
  symlinkSync(temporalDev('--print-binary'), join(bin, 'temporal'));
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, TEMPORAL_ADDRESS: server.address };
  await pasteAll(shop, async () => commandsOn(await pageOf(shop)), env);
  expect(await recordedAnswers(shop)).toEqual(expectedAnswers('temporal', 'operator'));
});

test('the UI renders our lists and code, and no markup from the contents of a call', {
  ...promise('G261'),
}, async () => {
  const rendered = async (input: Json): Promise<string> => {
    const page = await pageOf(await waitingShop(input, { address: server.address }));
    const response = await fetch(`${uiUrl}/render?content=${encodeURIComponent(page)}`);
    const html = await response.text();
    const [, main = ''] = /<main>([\s\S]*)<\/main>/.exec(html) ?? [];
    return main;
  };
  const tagsOf = (html: string): readonly string[] => html.match(/<\/?[a-z][^>]*>/gi) ?? [];
  const plain = await rendered({ cents: 900 });
  const hostile = await rendered(Object.fromEntries(HOSTILE.map((text) => [text, text])));
  expect(tagsOf(hostile)).toEqual(tagsOf(plain));
  expect(new Set(tagsOf(plain))).toEqual(
    new Set(['p', 'strong', 'code', 'ul', 'li', 'pre'].flatMap((tag) => [`<${tag}>`, `</${tag}>`])),
  );
});
