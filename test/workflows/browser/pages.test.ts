/** Two pages of one conversation on a real server: their streams are cut all the time, and answers to them are lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { BrowserConversation } from '../../../src/browser/conversation.js';
import { checkForm, createBrowserClient, errorsByField } from '../../../src/browser/index.js';
import { ViewModel } from '../../../src/browser/view/model.js';
import type {
  AssistantMessageView,
  ConversationView,
  PendingView,
} from '../../../src/browser/view/types.js';
import { defineAgent, manifestOf } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { Dice } from '../../support/dice.js';
import { startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { startApi } from '../../support/started-engines/api.js';
import { until } from '../../support/until.js';

const STORY = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
const PIECE_MS = 15;

/** Passes pieces on as slowly as a model writes them. */
function slowly(inner: Model): Model {
  return {
    name: inner.name,
    generate: async (request, options) => {
      const pieces: Parameters<typeof options.onEvent>[0][] = [];
      const response = await inner.generate(request, {
        ...options,
        onEvent: (piece) => pieces.push(piece),
      });
      for (const piece of pieces) {
        options.onEvent(piece);
        await sleep(PIECE_MS);
      }
      return response;
    },
  };
}

function shopAgent() {
  const paid: number[] = [];
  const cart = defineTool({
    ...{ name: 'cart.read', description: 'Reads the cart.', executor: 'client' },
    ...{ input: z.object({}), output: z.object({ items: z.array(z.string()) }) },
  });
  const pay = defineTool({
    ...{ name: 'pay', description: 'Pays.', input: z.object({ n: z.int() }), approval: 'required' },
    effects: 'once',
    run: ({ n }) => {
      paid.push(n);
      return { paid: n };
    },
  });
  const ask = defineTool({
    ...{ name: 'ask', description: 'Asks.', executor: 'human', input: z.object({}) },
    output: z.object({ day: z.iso.date(), hour: z.int().min(8) }),
  });
  const model = slowly(
    script(
      callsAll(
        [
          { name: 'cart.read', input: {} },
          { name: 'pay', input: { n: 3 } },
          { name: 'ask', input: {} },
        ],
        STORY,
      ),
      says(STORY),
      says('And again.'),
    ),
  );
  const agent = defineAgent({
    name: 'shop',
    instructions: 'Help.',
    model,
    tools: [cart, pay, ask],
  });
  return { agent, paid };
}

/** A `fetch` whose streams are cut after 50 to 500 ms, and that loses every third answer to a change. */
function badNetwork(seed: number): { readonly fetch: typeof fetch; readonly cuts: () => number } {
  const random = new Dice(seed);
  let [cuts, changes] = [0, 0];
  const fetched: typeof fetch = async (address, init = {}) => {
    const isStream = new Headers(init.headers).get('accept') === 'text/event-stream';
    const response = await fetch(address, init);
    if (!isStream) {
      if (init.method === 'POST') changes += 1;
      if (init.method === 'POST' && changes % 3 === 1) throw new TypeError('the answer was lost');
      return response;
    }
    const cut = new TransformStream<Uint8Array, Uint8Array>();
    const lives = AbortSignal.timeout(50 + random.below(450));
    void response.body?.pipeTo(cut.writable, { signal: lives }).catch(() => {
      cuts += 1;
    });
    return new Response(cut.readable, response);
  };
  return { fetch: fetched, cuts: () => cuts };
}

/** Keeps every text that a page has shown while it was streamed, by message. */
function watchTexts(conversation: BrowserConversation): ReadonlyMap<string, Set<string>> {
  const texts = new Map<string, Set<string>>();
  conversation.subscribe(() => {
    for (const message of answersIn(conversation.getSnapshot()))
      if (message.isStreaming && message.isWhole) {
        const seen = texts.get(message.key) ?? new Set();
        texts.set(message.key, seen.add(message.text));
      }
  });
  return texts;
}

function answersIn(view: ConversationView): readonly AssistantMessageView[] {
  return view.messages.filter((message) => message.role === 'assistant');
}

async function waiting(conversation: BrowserConversation, name: string): Promise<PendingView> {
  const found = await until(`${name} waits`, () =>
    conversation.getSnapshot().pending.find((call) => call.name === name),
  );
  return found!;
}

test('two pages with a bad network show the same conversation as its log, run a tool once, and lose nothing', {
  ...promise('G354', 'G356'),
  timeout: patient(120_000),
}, async () => {
  const { agent, paid } = shopAgent();
  const engine = await startEngine({ agents: [agent] });
  const baseUrl = await startApi(engine, [manifestOf(agent)]);
  const talk = engine.begin();
  const ran: string[] = [];
  const open = (name: string, seed: number) => {
    const network = badNetwork(seed);
    const page = createBrowserClient({
      ...{ baseUrl, fetch: network.fetch, timing: { minPauseMs: 10, maxPauseMs: 100 } },
      tools: {
        'cart.read': () => {
          ran.push(name);
          return { items: ['tea'] };
        },
      },
    }).conversation(talk.id, { agent: 'shop' });
    onTestFinished(() => page.leave());
    return { page, network, texts: watchTexts(page) };
  };
  const [first, second] = [open('first', 1), open('second', 2)];
  await Promise.all([first.page.open(), second.page.open()]);

  await first.page.send('What is in my cart?');
  const approval = await waiting(second.page, 'pay');
  const { verdict } = await second.page.resolve(approval.toolCallId, { type: 'approve' });
  expect(['accepted', 'duplicate']).toContain(verdict);
  const question = await waiting(first.page, 'ask');
  const early = { day: '2030-01-31', hour: 3 };
  const refused = await first.page.resolve(question.toolCallId, { type: 'answer', value: early });
  if (refused.verdict !== 'invalid') throw new Error(refused.verdict);
  expect(Object.keys(errorsByField(refused.problems))).toEqual(['hour']);
  const answer = checkForm(question.form!, { day: '2030-01-31', hour: '9' });
  if (!answer.ok) throw new Error('the form refuses');
  await first.page.resolve(question.toolCallId, { type: 'answer', value: answer.value });
  await until('the turn has ended', () => first.page.getSnapshot().lastTurn !== undefined);
  await second.page.send('Again?');
  for (const { page } of [first, second])
    await until('the second turn has ended', () => {
      const answers = answersIn(page.getSnapshot());
      const isWritten = answers.length === 3 && !answers.some(({ isStreaming }) => isStreaming);
      return isWritten && page.getSnapshot().status === 'idle';
    });

  expect(ran).toHaveLength(1);
  expect(paid).toEqual([3]);
  const log = await engine.log(talk);
  const model = new ViewModel(talk.id, undefined);
  model.takeEvents(log.map((event) => ({ cursor: { generation: 1, seq: event.seq }, event })));
  for (const { page, network, texts } of [first, second]) {
    const { connection: _state, ...view } = page.getSnapshot();
    const { connection: _off, ...ofLog } = model.view;
    expect(view).toEqual(ofLog);
    expect(view.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(answersIn(page.getSnapshot()).map(({ text }) => text)).toEqual([
      STORY,
      STORY,
      'And again.',
    ]);
    for (const message of answersIn(page.getSnapshot()))
      for (const text of texts.get(message.key) ?? [])
        expect(message.text.startsWith(text)).toBe(true);
    expect([...texts.values()].reduce((sum, seen) => sum + seen.size, 0)).toBeGreaterThan(5);
    expect(network.cuts()).toBeGreaterThan(3);
  }
});
