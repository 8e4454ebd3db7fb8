/**
 * The lines of `colloquy dev` for waiting calls, against a real API: the test pastes the printed commands into a shell.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WaitingLines } from '../../src/cli/dev/waiting-lines.js';
import { createApp } from '../../src/http/app.js';
import { developmentIdentity, developmentSecret } from '../../src/http/identity/development.js';
import { serve } from '../../src/http/listen.js';
import { promise } from '../support/promise.js';
import { type DevServer, startDevServer } from '../support/servers/dev-server.js';
import {
  expectedAnswers,
  pasteAll,
  recordedAnswers,
  type ShopTalk,
  waitingShop,
} from '../support/started-engines/waiting-shop.js';
import { temporaryFolder } from '../support/temporary.js';
import { until } from '../support/until.js';
import { HOSTILE } from '../support/waits-by-hand.js';

/** A server of this file's own: on the shared one workers also list conversations of other tests. */
let server: DevServer;
beforeAll(async () => {
  server = await startDevServer();
});
afterAll(() => server.stop());

async function linesFor({ engine }: ShopTalk): Promise<WaitingLines> {
  const { client, reader, opened } = engine;
  const secret = await developmentSecret(temporaryFolder());
  const identity = developmentIdentity(secret);
  const app = createApp({ client, reader, conversations: opened.log, ...identity });
  const api = await serve(app, { port: 0 });
  onTestFinished(() => api.close());
  const apiHeaders = { authorization: `Bearer ${secret.secret}` };
  return new WaitingLines({ apiUrl: api.url, apiHeaders, secret });
}

const { signal } = new AbortController();

test('every printed command answers its call, as any permitted actor, until no call waits', {
  ...promise('G262'),
}, async () => {
  const shop = await waitingShop({ cents: 900 }, { address: server.address });
  const lines = await linesFor(shop);
  const commands = async (): Promise<readonly string[]> => {
    const news = await until('the calls are printed', () => lines.news(signal), {
      holds: ({ length }) => length > 0,
    });
    return news.flatMap((line) => /^ {10}(curl .*)$/.exec(line)?.[1] ?? []);
  };
  await pasteAll(shop, commands);
  expect(await recordedAnswers(shop)).toEqual(expectedAnswers('api', 'developer'));
});

test('a call is printed once, and again when it is claimed', promise('G262'), async () => {
  const input = Object.fromEntries(HOSTILE.map((text) => [text, text]));
  const shop = await waitingShop(input, { address: server.address });
  const lines = await linesFor(shop);
  const first = await lines.news(signal);
  expect(first.filter((line) => line.startsWith('waits '))).toHaveLength(5);
  for (const line of first) expect(line).not.toMatch(/\p{Cc}|\p{Cf}/u);
  expect(await lines.news(signal)).toEqual([]);
  await shop.talk.claim('call_3', { actor: { id: 'service' } });
  const again = await until('the call is printed', () => lines.news(signal), {
    holds: ({ length }) => length > 0,
  });
  expect(again.filter((line) => line.startsWith('waits '))).toHaveLength(1);
  expect(again.join('\n')).toContain(
    'who may answer: only `service`, who holds the call (anybody)',
  );
});
