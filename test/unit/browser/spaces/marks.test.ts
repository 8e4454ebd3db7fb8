/** Read marks in a page that follows a space. */
import { afterEach, expect, it } from 'vitest';
import { createBrowserClient } from '../../../../src/browser/index.js';
import {
  type BrowserSpace,
  type SpaceEvent,
  spaceOf,
} from '../../../../src/browser/spaces/index.js';
import { json } from '../../../support/pages/scripted-fetch.js';
import { ScriptedSpace } from '../../../support/pages/scripted-space.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000, giveUpMs: 5_000 };
const opened: BrowserSpace[] = [];

afterEach(() => {
  for (const space of opened.splice(0)) space.stop();
});

/** A space whose API has a mark of the caller. */
function marked(api: ScriptedSpace, me?: { readonly id: string }) {
  const state = { position: 1, isMember: true };
  api.instead = ({ method, path, body }) => {
    if (method === 'POST' && path.endsWith('/read')) {
      const { position = 0 } = api.messages.find(({ id }) => id === body['messageId']) ?? {};
      state.position = Math.max(state.position, position);
      return json({ readPosition: state.position, unread: api.messages.length - state.position });
    }
    if (method !== 'GET' || !path.endsWith('/sp_1')) return undefined;
    const { length: lastPosition } = api.messages;
    const { position: readPosition, isMember } = state;
    const mark = isMember ? { readPosition, unread: lastPosition - readPosition } : {};
    return json({ id: 'sp_1', name: 'Desk', lastPosition, lastChange: api.change, ...mark });
  };
  const client = createBrowserClient({
    ...{ baseUrl: '', fetch: api.fetch, timing: QUICK },
    ...(me === undefined ? {} : { me }),
  });
  const space = spaceOf(client, 'sp_1');
  opened.push(space);
  return { space, state, unread: () => space.getSnapshot().unread };
}

async function live(api: ScriptedSpace, space: BrowserSpace, streams = 1) {
  await until('the stream is open', () => {
    return api.streams.length === streams && space.getSnapshot().connection.state === 'live';
  });
}

it('a page counts the unread messages, and marks the newest as read', {
  ...promise('G419'),
}, async () => {
  const api = new ScriptedSpace(3);
  const { space, unread } = marked(api);
  expect(unread()).toBeUndefined();
  expect(await space.read()).toBeUndefined();
  await space.open();
  expect(unread()).toBe(2);
  expect(space.getSnapshot().space).not.toHaveProperty('unread');
  await live(api, space);
  api.write('new');
  await until('it counts', () => unread() === 3);
  expect(await space.read(api.messages[1]?.id)).toEqual({ readPosition: 2, unread: 2 });
  expect(unread()).toBe(2);
  expect(await space.read()).toEqual({ readPosition: 4, unread: 0 });
  expect(unread()).toBe(0);
});

it('a page has the mark of another tab by the stream, and after a lost connection', {
  ...promise('G419'),
}, async () => {
  const api = new ScriptedSpace(4);
  const { space, state, unread } = marked(api);
  const events: SpaceEvent[] = [];
  space.listen((event) => events.push(event));
  await space.open();
  await live(api, space);
  api.stream.send('event: read\ndata: {"position":3}\n\n');
  await until('the mark', () => unread() === 1);
  // Older, as one that comes late.
  api.stream.send('event: read\ndata: {"position":2}\n\n');
  await until('the event', () => events.length === 2);
  expect(events).toEqual([3, 2].map((position) => ({ type: 'read', position })));
  expect(unread()).toBe(1);
  state.position = 4;
  api.stream.cut();
  await live(api, space, 2);
  await until('the mark was read', () => unread() === 0);
});

it('a text of the person itself marks what stands before it', promise('G419'), async () => {
  const api = new ScriptedSpace(2);
  const { space, unread } = marked(api, { id: 'ann' });
  await space.open();
  await live(api, space);
  expect(unread()).toBe(1);
  api.write('mine');
  await until('nothing is unread', () => unread() === 0);
});

it(
  'a caller who joins while the page follows has the mark that it sets',
  promise('G419'),
  async () => {
    const api = new ScriptedSpace(3);
    const { space, state, unread } = marked(api);
    state.isMember = false;
    await space.open();
    await live(api, space);
    expect(unread()).toBeUndefined();
    state.isMember = true;
    expect(await space.read(api.messages[1]?.id)).toEqual({ readPosition: 2, unread: 1 });
    expect(unread()).toBe(1);
    api.write('new');
    await until('it counts', () => unread() === 2);
  },
);

it('a page of a caller that is no member has no mark', promise('G419'), async () => {
  const api = new ScriptedSpace(2);
  const client = createBrowserClient({ baseUrl: '', fetch: api.fetch, timing: QUICK });
  const space = spaceOf(client, 'sp_1');
  opened.push(space);
  await space.open();
  await live(api, space);
  api.stream.send('event: read\ndata: {"position":2}\n\n');
  api.write('new');
  await until('it is shown', () => space.getSnapshot().messages.length === 3);
  expect(space.getSnapshot()).not.toHaveProperty('unread');
});
