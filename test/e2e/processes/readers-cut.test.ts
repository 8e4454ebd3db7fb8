/**
 * Fifty readers of one busy conversation at two API processes: each connection is cut after 50 to 500 ms, and the
 * processes are killed in turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserConversation, createBrowserClient } from 'colloquy/browser';
import type { Child } from 'colloquy/dev';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { DEV_SECRET } from '../support/api.js';
import { Follower } from '../support/follower.js';
import { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const LOG_READERS = 40;
const PAGES = 10;
const STEPS = 20;
const KILLS = 6;
const BETWEEN_KILLS_MS = 1_500;
const WORDS = Array.from({ length: 20 }, (_, index) => `word${index}`).join(' ');

let world: World;
const apis: (Pick<Child, 'kill'> & { readonly url: string })[] = [];
beforeAll(async () => {
  world = await startWorld();
  world.model.answer('look often', ({ results }) =>
    results.length < STEPS
      ? {
          text: `look ${results.length + 1}: ${WORDS}`,
          calls: [{ name: 'weather.lookup', input: { city: 'Berlin' } }],
          chunkDelayMs: 20,
        }
      : { text: `I have seen enough: ${WORDS}`, chunkDelayMs: 20 },
  );
  apis.push({ ...world.stack.api, url: world.apiUrl }, await world.startApi(0));
});
afterAll(() => world.stop());

/** The address of each next connection: the two processes in turn. */
function inTurn(): () => string {
  let next = 0;
  return () => {
    next += 1;
    return apis[next % apis.length]?.url ?? '';
  };
}

const cutAfterMs = (): number => 50 + Math.floor(Math.random() * 450);

function logReader(id: string): Follower {
  const talk = new Talk(id, inTurn());
  return new Follower(async (lastEventId) => {
    const stream = await talk.stream(lastEventId);
    setTimeout(() => stream.close(), cutAfterMs());
    return stream;
  });
}

/** A page whose event streams are cut. */
function page(id: string): BrowserConversation {
  const urlOf = inTurn();
  const client = createBrowserClient({
    baseUrl: world.apiUrl,
    token: DEV_SECRET,
    timing: { minPauseMs: 10, maxPauseMs: 100 },
    fetch: async (input, init) => {
      const { pathname, search } = new URL(input);
      const isStream = new Headers(init?.headers).get('accept') === 'text/event-stream';
      const cut = isStream ? [AbortSignal.timeout(cutAfterMs())] : [];
      const signal = AbortSignal.any([...cut, ...(init?.signal ? [init.signal] : [])]);
      return await fetch(`${urlOf()}${pathname}${search}`, { ...init, signal });
    },
  });
  return client.conversation(id);
}

interface SeenTexts {
  /** The longest streamed text of each message, before its end was in the log. */
  readonly streamed: Map<string, string>;
  /** Streamed texts that are no beginning of the one before, without a new attempt. */
  readonly torn: string[];
}

function watch(conversation: BrowserConversation): SeenTexts {
  const seen: SeenTexts = { streamed: new Map(), torn: [] };
  conversation.subscribe(() => {
    for (const message of conversation.getSnapshot().messages) {
      if (message.role !== 'assistant' || !message.isStreaming || !message.isWhole) continue;
      const place = `${message.turnId}.${message.step}`;
      const before = seen.streamed.get(place) ?? '';
      const [shorter, longer] = [before, message.text].toSorted((a, b) => a.length - b.length);
      if (!longer?.startsWith(shorter ?? '')) seen.torn.push(`${before} | ${message.text}`);
      seen.streamed.set(place, longer ?? '');
    }
  });
  return seen;
}

async function killInTurn(): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(BETWEEN_KILLS_MS);
    const at = kill % apis.length;
    const { url, kill: end } = apis[at] ?? { url: '', kill: () => Promise.resolve() };
    await end();
    apis[at] = await world.startApi(Number(new URL(url).port));
  }
}

it('fifty readers that are cut again and again, of processes that are killed in turn, get every event once and in order; streamed text is the text of the log', {
  ...promise('G24'),
}, async () => {
  const talk = world.talk('busy');
  await talk.begin('support', 'look often');
  const readers = Array.from({ length: LOG_READERS }, () => logReader('busy'));
  const pages = Array.from({ length: PAGES }, () => page('busy'));
  const texts = pages.map((each) => {
    void each.open();
    return watch(each);
  });
  try {
    await killInTurn();
    const { text } = await new Talk('busy', inTurn()).ended();
    expect(text).toBe(`I have seen enough: ${WORDS}`);
    const events = await talk.events();
    const ids = events.map((_, index) => `1-${index + 1}`);
    for (const reader of readers) {
      await until('a reader has every event', () => reader.recorded.length, {
        holds: (count) => count >= ids.length,
      });
      expect(reader.recorded.map(({ id }) => id)).toEqual(ids);
      expect(reader.recorded.map(({ data }) => data)).toEqual(events);
      expect(reader.connections).toBeGreaterThan(5);
    }
    const final = new Map<string, string>(
      events.flatMap((event) =>
        event.type === 'assistant_message'
          ? [[`${event.turnId}.${event.step}`, textOf(event.parts)] as const]
          : [],
      ),
    );
    expect(final.size).toBe(STEPS + 1);
    for (const [index, each] of pages.entries()) {
      await until('a page has the last message', () => each.getSnapshot(), {
        holds: ({ messages }) => messages.length === final.size + 1,
      });
      const shown = each
        .getSnapshot()
        .messages.flatMap((message) => (message.role === 'assistant' ? [message] : []));
      expect(new Map(shown.map((one) => [`${one.turnId}.${one.step}`, one.text]))).toEqual(final);
      const { streamed, torn } = texts[index] ?? { streamed: new Map<string, string>(), torn: [] };
      expect(torn).toEqual([]);
      for (const [place, part] of streamed)
        expect(final.get(place)).toMatch(new RegExp(`^${part}`));
      expect(streamed.size).toBeGreaterThan(2);
    }
  } finally {
    for (const each of pages) each.leave();
    await Promise.all(readers.map((reader) => reader.stop()));
  }
});

function textOf(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  return parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
}
