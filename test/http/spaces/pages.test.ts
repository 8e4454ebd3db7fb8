/** The space client of web pages against the routes themselves. */
import { expect, it, onTestFinished } from 'vitest';
import { createBrowserClient } from '../../../src/browser/index.js';
import {
  type BrowserSpace,
  spaceOf,
  spacesOf,
  toolRenderers,
} from '../../../src/browser/spaces/index.js';
import { hsafaTools } from '../../../src/compat/hsafa/index.js';
import { callsAll, says } from '../../../src/model/scripted/scripted.js';
import { Dice } from '../../support/dice.js';
import { promise } from '../../support/promise.js';
import { answeringRoom } from '../../support/spaces/answering-room.js';
import { DESK } from '../../support/spaces/room-of-agent.js';
import { spacesApp } from '../../support/spaces/spaces-app.js';
import { until } from '../../support/until.js';

const TIMING = { minPauseMs: 2, maxPauseMs: 20, silenceMs: 10_000, giveUpMs: 20_000 };

/** A `fetch` that ends streams after 1 to 6 pieces of them, and loses every third answer to a change. */
function badNetwork(seed: number): { readonly fetch: typeof fetch; readonly cuts: () => number } {
  const dice = new Dice(seed);
  let [cuts, changes] = [0, 0];
  const fetched: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method === 'POST') {
      changes += 1;
      if (changes % 3 === 0) throw new TypeError('the answer was lost');
    }
    const { body } = response;
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
      return response;
    let left = 1 + dice.below(6);
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        left -= 1;
        // Half of the last piece comes.
        controller.enqueue(left > 0 ? piece : piece.slice(0, piece.length / 2));
        if (left > 0) return;
        cuts += 1;
        controller.terminate();
      },
    });
    return new Response(body?.pipeThrough(cut), { headers: response.headers });
  };
  return { fetch: fetched, cuts: () => cuts };
}

function pageOf(baseUrl: string, token: string, fetched: typeof fetch = fetch) {
  const client = createBrowserClient({
    ...{ baseUrl, token, fetch: fetched, timing: TIMING, me: { id: token } },
  });
  const open = (id: string): BrowserSpace => {
    const space = spaceOf(client, id);
    onTestFinished(() => space.stop());
    return space;
  };
  return { client, open };
}

const texts = (space: BrowserSpace) => space.getSnapshot().messages.map(({ text }) => text);

it(
  'two pages that write at once over a bad network show the same messages, each once',
  promise('G372'),
  async () => {
    const { server } = await spacesApp();
    const networks = [badNetwork(1), badNetwork(2)] as const;
    const ann = pageOf(server.url, 'ann', networks[0].fetch);
    const bob = pageOf(server.url, 'bob', networks[1].fetch);
    const { id } = await spacesOf(ann.client).create({ name: 'Desk', access: 'open' });
    expect((await spacesOf(ann.client).list()).spaces.map((space) => space.id)).toEqual([id]);
    const [anns, bobs] = [ann.open(id), bob.open(id)];
    expect(await bobs.open()).toMatchObject({ connection: { state: 'refused' } });
    await bobs.join();
    await Promise.all([anns.open(), bobs.open()]);
    const count = 60;
    const send = async (space: BrowserSpace, name: string): Promise<void> => {
      for (let n = 1; n <= count; n += 1) await space.send(`${name} ${n}`);
    };
    await Promise.all([send(anns, 'ann'), send(bobs, 'bob')]);
    for (const space of [anns, bobs])
      await until('all are shown', () => space.getSnapshot().messages.length === 2 * count);
    const positions = Array.from({ length: 2 * count }, (_, index) => index + 1);
    for (const space of [anns, bobs]) {
      expect(space.getSnapshot().messages.map(({ position }) => position)).toEqual(positions);
      expect(space.getSnapshot().outgoing).toEqual([]);
      await until('both members', () => space.getSnapshot().members.length === 2);
    }
    expect(texts(anns)).toEqual(texts(bobs));
    // Each sender's own order is kept.
    const ofAnn = texts(anns).filter((text) => text.startsWith('ann'));
    expect(ofAnn).toEqual(Array.from({ length: count }, (_, index) => `ann ${index + 1}`));
    for (const { cuts } of networks) expect(cuts()).toBeGreaterThan(1);
    const later = pageOf(server.url, 'ann').open(id);
    await later.open();
    expect(texts(later)).toEqual(texts(anns).slice(-50));
    while (later.getSnapshot().hasOlder) await later.loadOlder();
    expect(texts(later)).toEqual(texts(anns));
  },
);

it(
  'a page renders the calls of an agent by their names, and answers one',
  promise('H13', 'H17'),
  async () => {
    const { tools } = hsafaTools([
      {
        ...{ name: 'confirm', description: 'Ask', executionType: 'space', isAsync: true },
        inputSchema: { type: 'object' },
      },
      {
        ...{ name: 'chart', description: 'Draw', executionType: 'internal', visible: true },
        inputSchema: { type: 'object' },
      },
    ]);
    const { server, t, stored } = await answeringRoom(
      tools,
      callsAll([
        { name: 'enter_space', input: { spaceId: DESK } },
        { name: 'chart', input: { bars: [1, 2] } },
        { name: 'confirm', input: { order: '<b>42</b>' } },
      ]),
      says('asked'),
      says('confirmed'),
    );
    const space = pageOf(server.url, 'bob').open(DESK);
    await space.open();
    await t.send('Go');
    await stored();
    const renderers = toolRenderers<readonly unknown[]>({
      byName: {
        confirm: ({ status, waitsFor, input, output }) => [status, waitsFor, input, output],
      },
      fallback: ({ toolName, output }) => [toolName, output],
    });
    const rendered = () => space.getSnapshot().messages.map((message) => renderers.render(message));
    const input = { order: '<b>42</b>' };
    await until('the call waits', () => rendered()[1]?.[0] === 'requires_action');
    expect(rendered()).toEqual([
      ['chart', { success: true, args: { bars: [1, 2] } }],
      ['requires_action', 'elicitation', input, undefined],
    ]);
    const [, message] = space.getSnapshot().messages;
    const yes = { type: 'answer', value: { confirmed: true } } as const;
    expect(await space.answer(message?.id ?? '', yes)).toMatchObject({ verdict: 'accepted' });
    await stored();
    await until('it is complete', () => rendered()[1]?.[0] === 'complete');
    expect(rendered()[1]).toEqual(['complete', undefined, input, { confirmed: true }]);
  },
);

it('a page of a member that is removed ends; so do those of a space that is deleted', async () => {
  const { server, as } = await spacesApp();
  const ann = pageOf(server.url, 'ann');
  const { id } = await spacesOf(ann.client).create({ name: 'Desk' });
  const [anns, bobs] = [ann.open(id), pageOf(server.url, 'bob').open(id)];
  await anns.add({ kind: 'person', id: 'bob' });
  await Promise.all([anns.open(), bobs.open()]);
  const stateOf = (space: BrowserSpace) => space.getSnapshot().connection.state;
  await until('both are live', () => stateOf(anns) === 'live' && stateOf(bobs) === 'live');
  await expect(anns.remove({ kind: 'person', id: 'bob' })).rejects.toMatchObject({
    problem: { code: 'forbidden' },
  });
  expect(await bobs.leave()).toBe(true);
  await until('it has ended', () => stateOf(bobs) === 'refused');
  await until('ann is alone', () => anns.getSnapshot().members.length === 1);
  await as('admin').request(`/v1/spaces/${id}`, { method: 'DELETE' });
  await until('it has ended, too', () => stateOf(anns) === 'refused');
});
