/** The page of one space: `/?space=<id>`. The view of the client decides what is shown. */
import { createBrowserClient } from 'colloquy/browser';
import {
  type BrowserSpace,
  type OutgoingText,
  type SpaceView,
  spaceOf,
} from 'colloquy/browser/spaces';
import { byId, element } from './dom.js';
import { MessageList } from './messages.js';
import { type Decide, pageRenderers } from './renderers.js';
import { runTools } from './tools.js';

/** Exchanges the token of the address for the cookie of a session, which a reload has. */
async function signIn(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  const headers = { authorization: `Bearer ${token}` };
  const { ok } = await fetch('/v1/session', { method: 'POST', headers });
  if (!ok) throw new Error('The token of the address is wrong');
  history.replaceState(null, '', location.pathname + location.search);
}

const problem = byId('problem');
const [messages, outgoing] = [byId('messages'), byId('outgoing')];
const older = byId<HTMLButtonElement>('older');

function showSpace(space: BrowserSpace): void {
  const decide: Decide = async (id, type) => {
    const answered = await space.answer(id, { type });
    const { verdict } = answered;
    // The call shows what came of it; another answer that was first shows as well.
    if (!['accepted', 'duplicate', 'queued', 'stale'].includes(verdict))
      throw new Error(`The answer was not taken: ${verdict}`);
  };
  const list = new MessageList(messages, pageRenderers(decide));
  let sent: readonly OutgoingText[] = [];
  let reading: Promise<unknown> | undefined;
  // A mark that fails is set again with the next message.
  let failedAt = -1;
  const markRead = (newest: number): void => {
    if (newest === failedAt) return;
    reading ??= space
      .read()
      .finally(() => {
        reading = undefined;
      })
      // A message that has come meanwhile is unread, and in front of the reader.
      .then(show, () => {
        failedAt = newest;
      });
  };
  const show = (): void => {
    const view = space.getSnapshot();
    const name = view.space?.name ?? 'Space';
    byId('name').textContent = name;
    const { unread = 0 } = view;
    document.title = unread === 0 ? name : `(${unread}) ${name}`;
    if (unread > 0 && document.visibilityState === 'visible')
      markRead(view.messages.at(-1)?.position ?? 0);
    byId('connection').textContent = connectionOf(view);
    older.hidden = !view.hasOlder;
    list.show(view.messages);
    // The same texts as before keep their buttons, and the focus that one of them may have.
    const isSame = view.outgoing.every((text, index) => text === sent[index]);
    if (!isSame || view.outgoing.length !== sent.length)
      outgoing.replaceChildren(...view.outgoing.map((text) => outgoingOf(space, text)));
    sent = view.outgoing;
  };
  space.subscribe(show);
  document.addEventListener('visibilitychange', show);
  show();
}

function connectionOf({ connection }: SpaceView): string {
  switch (connection.state) {
    case 'live':
      return 'Live';
    case 'waiting':
      return 'The connection is lost; the page tries again';
    case 'refused':
      return `This space cannot be shown: ${connection.problem.detail}`;
    default:
      return 'Connecting';
  }
}

function outgoingOf(space: BrowserSpace, { requestId, text, state }: OutgoingText): HTMLElement {
  const shown = element('p', { className: 'text', dir: 'auto' }, text);
  if (state === 'sending') return element('div', {}, shown, 'is being sent');
  const again = (): void => void space.send(text, { requestId }).catch(() => undefined);
  const discard = (): void => space.discard(requestId);
  return element(
    'div',
    {},
    shown,
    element('button', { type: 'button', onclick: again }, 'Send again'),
    element('button', { type: 'button', className: 'second', onclick: discard }, 'Discard'),
  );
}

function composeFor(space: BrowserSpace): void {
  const [form, field] = [byId<HTMLFormElement>('composer'), byId<HTMLTextAreaElement>('text')];
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text === '') return;
    field.value = '';
    problem.textContent = '';
    space.send(text).catch((error: unknown) => {
      problem.textContent = error instanceof Error ? error.message : String(error);
    });
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

async function start(): Promise<void> {
  await signIn();
  const id = new URLSearchParams(location.search).get('space');
  if (id === null) throw new Error('The address names no space: /?space=<id>');
  const space = spaceOf(createBrowserClient({ baseUrl: '' }), id);
  showSpace(space);
  composeFor(space);
  older.addEventListener('click', () => {
    void space.loadOlder().catch(() => undefined);
  });
  await space.open();
  runTools(space, {
    'cart.read': (input) => {
      const { currency = 'EUR' } = input as { readonly currency?: string };
      return { items: ['tea'], total: `4.20 ${currency}` };
    },
  });
}

start().catch((error: unknown) => {
  problem.textContent = error instanceof Error ? error.message : String(error);
});
