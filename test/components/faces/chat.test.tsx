/** The chat, over one conversation and the list of others, without a server. */
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { Chat } from '../../../web/chat/chat.js';
import styles from '../../../web/style.css?url';
import { FakeStream, json, problem, scriptedFetch } from '../../support/pages/scripted-fetch.js';
import { answers, asks, turn } from '../../support/samples/log-events.js';
import { expectAccessible, look, withStyles } from '../support/looks.js';
import { promise } from '../support/promise.js';
import { sessionOver } from '../support/session.js';
import { show } from '../support/show.js';
import { apiWith } from '../support/talk.js';

const HOME = location.pathname;
const BLOB = { id: 'f'.repeat(64), bytes: 6, type: 'application/octet-stream' };

beforeAll(async () => await withStyles(styles));
beforeEach(() => history.replaceState(null, '', '/ui/chat/support'));
afterEach(() => history.replaceState(null, '', HOME));

/** Shows the chat with the agent `support`, which has the conversation `old-1`. */
function openChat(api = apiWith()) {
  const others = scriptedFetch(({ path }) => {
    if (!path.startsWith('/v1/conversations/stream')) return json(LIST);
    const stream = new FakeStream();
    stream.send('id: 1\nevent: ready\ndata: {}\n\n');
    return stream.response;
  });
  const isList = (address: unknown) =>
    /\/v1\/conversations(?:\/stream)?(?:\?|$)/.test(String(address));
  const uploads: ((response: Response) => void)[] = [];
  api.instead = ({ method, path }) => {
    if (path.includes('/blobs')) return new Promise((resolve) => uploads.push(resolve));
    if (method === 'POST') return json({ status: 'admitted', conversationId: 'c1', turnId: 't1' });
    return path.includes('/chat-') ? problem(404, 'unknown_conversation') : undefined;
  };
  const session = sessionOver(
    async (address, init = {}) => {
      const isRead = (init.method ?? 'GET') === 'GET';
      return await (isRead && isList(address) ? others : api).fetch(address, init);
    },
    ['read', 'answer', 'send', 'cancel'],
  );
  const nothing = () => undefined;
  show(<Chat session={session} onSignOut={nothing} onTenant={nothing} />);
  return { api, uploads };
}

const LIST = {
  conversations: [
    {
      ...{ conversationId: 'old-1', title: 'An old one', agent: 'support', status: 'idle', seq: 1 },
      ...{ updatedAt: new Date(0).toISOString(), pending: [] },
    },
  ],
};

const field = () => page.getByLabelText('Message to');
const goTo = async (name: string) => await page.getByRole('link', { name }).click();

describe('a message that is being written', promise('G430'), () => {
  it('is there again after a look at another conversation, and is gone once it is sent', async () => {
    const { api } = openChat();
    await field().fill('half a ques');
    await goTo('An old one');
    await expect.element(field()).toHaveValue('');
    await field().fill('for the old one');
    await goTo('New conversation');
    await expect.element(field()).toHaveValue('half a ques');
    await goTo('New conversation');
    await expect.element(field()).toHaveValue('half a ques');
    await goTo('An old one');
    await expect.element(field()).toHaveValue('for the old one');
    await goTo('New conversation');
    await field().click();
    await userEvent.keyboard('{Enter}');
    await expect.poll(() => api.sent('POST', '/v1/conversations').length).toBe(1);
    await expect.element(field()).toHaveValue('');
    const [sent] = api.sent('POST', '/v1/conversations');
    expect(location.pathname).toBe(`/ui/chat/support/${String(sent?.body['id'])}`);
    await goTo('New conversation');
    await expect.element(field()).toHaveValue('');
    expect(location.pathname).toBe('/ui/chat/support');
  });

  it('keeps its files, of which an upload goes on meanwhile', async () => {
    const { uploads } = openChat();
    await page.getByLabelText('Files').upload(new File(['a note'], 'note.txt'));
    await expect.element(page.getByText('is uploaded …')).toBeVisible();
    await goTo('An old one');
    await expect.element(page.getByText('note.txt')).not.toBeInTheDocument();
    uploads[0]?.(json({ blob: BLOB }, { status: 201 }));
    await goTo('New conversation');
    await expect.element(page.getByText('note.txt')).toBeVisible();
    await expect.element(page.getByText('is uploaded …')).not.toBeInTheDocument();
    await expect.element(page.getByRole('button', { name: 'Send' })).toBeEnabled();
  });
});

describe('a message that fails while another conversation is shown', promise('G430'), () => {
  /** Shows the chat over an API that takes a message, and refuses it when `refuse` is called. */
  function openRefused() {
    const { api } = openChat();
    const { instead } = api;
    const { promise: refused, resolve } = Promise.withResolvers<void>();
    api.instead = (call) =>
      call.method === 'POST' ? refused.then(() => problem(422, 'too_long')) : instead?.(call);
    return { api, refuse: resolve };
  }
  const send = async (text: string) => {
    await field().fill(text);
    await userEvent.keyboard('{Enter}');
    await expect.element(page.getByText('on its way')).toBeVisible();
  };
  const again = () => page.getByRole('button', { name: 'Send again' });

  it('is there again with its conversation, and is sent again as the same one', async () => {
    const { api, refuse } = openRefused();
    await goTo('An old one');
    await send('to the old one');
    await goTo('New conversation');
    refuse();
    await expect.element(page.getByText('message not sent')).toBeVisible();
    await expect.element(again()).not.toBeInTheDocument();
    await goTo('An old one');
    await expect.element(page.getByText('to the old one')).toBeVisible();
    await expect.element(page.getByText('too_long it is')).toBeVisible();
    await expectAccessible('a message not sent');
    await again().click();
    await expect.poll(() => api.sent('POST', '/old-1/messages').length).toBe(2);
    const [one, two] = api.sent('POST', '/old-1/messages');
    expect(two?.body).toMatchObject({ text: 'to the old one', requestId: one?.body['requestId'] });
  });

  it('is listed where it would have begun its conversation', async () => {
    const { refuse } = openRefused();
    await send('the first of all');
    await goTo('An old one');
    refuse();
    await goTo('the first of all');
    await expect.element(again()).toBeVisible();
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.element(page.getByText('the first of all')).not.toBeInTheDocument();
  });
});

it.each([
  ['says that it is on its way', undefined, 'On its way …'],
  ['has failed after a minute', 61_000, 'The API does not answer'],
] as const)('a stop that the API does not answer %s', promise('G429'), async (_, passed, said) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  history.replaceState(null, '', '/ui/chat/helper/c1');
  const { api } = openChat();
  const { instead } = api;
  api.instead = (call) => {
    if (call.method === 'POST') throw new TypeError('fetch failed');
    return instead?.(call);
  };
  const stop = page.getByRole('button', { name: 'Stop' });
  await stop.click();
  await expect.poll(() => api.sent('POST', '/cancel').length).toBeGreaterThan(0);
  await expect.element(stop).toBeDisabled();
  if (passed !== undefined) vi.setSystemTime(Date.now() + passed);
  await expect.element(page.getByText(said)).toBeVisible();
});

it('the next turn has nothing of the stop of the turn before', async () => {
  history.replaceState(null, '', '/ui/chat/helper/c1');
  const { api } = openChat();
  const { instead } = api;
  api.instead = (call) =>
    call.method === 'POST' ? json({ status: 'done', cancelled: true }) : instead?.(call);
  const said = page.getByText('The turn is being stopped.');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.element(said).toBeVisible();
  api.log(...answers('t1'), ...asks('t2'));
  await expect.element(page.getByRole('button', { name: 'Stop' })).toBeEnabled();
  await expect.element(said).not.toBeInTheDocument();
});

const TEXT = 'A long answer. '.repeat(30);

describe.each([390, 1_000])('the messages of a chat %i pixels wide', promise('G433'), (width) => {
  const said = (text: string) => page.getByText(text, { exact: true });
  const jump = () => page.getByRole('button', { name: 'Jump to newest' });

  it('are opened at the newest, and stay where the reader is, who jumps to the newest', async () => {
    await look({ colorScheme: 'light', width, zoom: 1 });
    history.replaceState(null, '', '/ui/chat/helper/c1');
    const turns = Array.from({ length: 12 }, (_, index) => turn(`t${index + 2}`, TEXT)).flat();
    const api = apiWith(...answers('t1'), ...turns, ...turn('t99', 'The newest answer'));
    openChat(api);
    await expect.element(said('The newest answer')).toBeInViewport();
    await expect.element(jump()).not.toBeInTheDocument();
    const oldest = page.getByText('hello').first();
    oldest.element().scrollIntoView();
    await expect.element(jump()).toBeInViewport();
    await expectAccessible('scrolled up');
    api.log(...turn('t100', 'An answer after it'));
    await expect.element(said('An answer after it')).toBeInTheDocument();
    await expect.element(oldest).toBeInViewport();
    await jump().click();
    await expect.element(said('An answer after it')).toBeInViewport();
    await expect.element(jump()).not.toBeInTheDocument();
    api.log(...turn('t101', 'The last of all'));
    await expect.element(said('The last of all')).toBeInViewport();
  });
});
