/** Hooks of colloquy/react over lost connections, and components that come and go. */
import { describe, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import type { PendingView } from '../../../src/browser/index.js';
import { type BrowserClient, createBrowserClient } from '../../../src/browser/index.js';
import type { WorklistChoice } from '../../../src/browser/worklist/index.js';
import { useConversation, usePending, useWorklist } from '../../../src/react/index.js';
import { json } from '../../support/pages/scripted-fetch.js';
import { answers, asks } from '../../support/samples/log-events.js';
import { promise } from '../support/promise.js';
import { hide, showPart } from '../support/show.js';
import { apiWith, clientOf, REFUND } from '../support/talk.js';
import { ScriptedWorklist, waitingItem } from '../support/worklist.js';

/** The lists of waiting calls of all renders. */
const pendings: (readonly PendingView[])[] = [];

function Talk({ client, id }: { readonly client: BrowserClient; readonly id: string }) {
  const used = useConversation(client, id);
  pendings.push(usePending(used));
  return (
    <>
      <p role="status">{used.view.connection.state}</p>
      {used.view.messages.map((message) => (
        <article key={message.key}>{message.role === 'event' ? '' : message.text}</article>
      ))}
    </>
  );
}

function Calls(props: { readonly client: BrowserClient; readonly choice?: WorklistChoice }) {
  const { client, choice } = props;
  const { view } = useWorklist(client, choice);
  return (
    <ul aria-label={view.connection.state}>
      {view.items.map(({ ref }) => (
        <li key={ref}>{ref}</li>
      ))}
    </ul>
  );
}

const texts = () =>
  page
    .getByRole('article')
    .elements()
    .map(({ textContent }) => textContent);
const refs = () =>
  page
    .getByRole('listitem')
    .elements()
    .map(({ textContent }) => textContent);

export function hookTests(): void {
  describe('a conversation in a page', () => {
    it(
      'goes on over a lost connection where it was, and shows nothing twice',
      promise('G411'),
      async () => {
        const api = apiWith();
        showPart(<Talk client={clientOf(api)} id="c1" />);
        await expect.element(page.getByText('live')).toBeVisible();
        const { length } = api.streams;
        api.stream.cut();
        await expect.poll(() => api.streams.length).toBe(length + 1);
        expect(api.calls.at(-1)?.headers.get('last-event-id')).toBe('1-3');
        api.log(...answers('t1', 'There you are'));
        await expect.poll(texts).toEqual(['hello', 'There you are']);
        // Events that the page has, once more.
        api.stream.send(...api.events.slice(-2));
        api.log(...asks('t2', 'Thank you'));
        await expect.poll(texts).toEqual(['hello', 'There you are', 'Thank you']);
      },
    );

    it(
      'is followed by one connection, which ends with its component',
      promise('G411'),
      async () => {
        const api = apiWith();
        const client = clientOf(api);
        showPart(<Talk client={client} id="c1" />);
        await expect.element(page.getByText('live')).toBeVisible();
        const open = () => api.streams.filter(({ isCancelled }) => !isCancelled);
        await expect.poll(() => open().length).toBe(1);
        const [first] = open();
        // Another conversation: the connection of the one before ends.
        showPart(<Talk client={client} id="c2" />);
        await expect.poll(() => first?.isCancelled).toBe(true);
        await expect.poll(() => open().length).toBe(1);
        expect(api.calls.at(-1)?.path).toMatch(/^\/v1\/conversations\/c2\//);
        hide();
        await expect.poll(() => open().length).toBe(0);
      },
    );

    it('gives the same list of waiting calls until one of them changes', async () => {
      pendings.length = 0;
      const api = apiWith(REFUND);
      showPart(<Talk client={clientOf(api)} id="c1" />);
      await expect.poll(() => pendings.at(-1)?.length).toBe(1);
      const list = pendings.at(-1);
      await expect.element(page.getByText('live')).toBeVisible();
      const { length } = pendings;
      api.log(...asks('t2', 'Are you there?'));
      await expect.poll(texts).toEqual(['hello', 'Are you there?']);
      expect(pendings.length).toBeGreaterThan(length);
      expect(pendings.at(-1)).toBe(list);
    });
  });

  describe('a worklist in a page', () => {
    const opened = (choice?: WorklistChoice) => {
      const source = new ScriptedWorklist();
      const timing = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000 };
      const client = createBrowserClient({ baseUrl: '', fetch: source.fetch, timing });
      showPart(<Calls client={client} {...(choice === undefined ? {} : { choice })} />);
      return { source, client };
    };

    it(
      'keeps its calls over a lost connection, and comes back for the changes',
      promise('G411'),
      async () => {
        const { source } = opened();
        await expect.poll(() => source.open.length).toBe(1);
        source.whole(waitingItem('a'), waitingItem('b'));
        await expect.poll(refs).toEqual(['a', 'b']);
        const { id } = source;
        source.stream.cut();
        await expect.poll(() => source.open.length).toBe(1);
        expect(source.calls.at(-1)?.path).toBe(`/v1/worklist/stream?after=${id}`);
        expect(refs()).toEqual(['a', 'b']);
        source.adds(waitingItem('c'));
        source.ends('a');
        await expect.poll(refs).toEqual(['b', 'c']);
      },
    );

    it('is followed once for equal choices, and anew for another one', async () => {
      const { source, client } = opened({ risk: 'high' });
      await expect.poll(() => source.open.length).toBe(1);
      source.whole(waitingItem('a'));
      await expect.poll(refs).toEqual(['a']);
      const { stream } = source;
      showPart(<Calls client={client} choice={{ risk: 'high' }} />);
      await expect.poll(refs).toEqual(['a']);
      expect(source.stream).toBe(stream);
      showPart(<Calls client={client} choice={{ risk: 'low' }} />);
      await expect.poll(() => stream.isCancelled).toBe(true);
      expect(refs()).toEqual([]);
      await expect.poll(() => source.calls.at(-1)?.path).toBe('/v1/worklist/stream?risk=low');
      hide();
      await expect.poll(() => source.open.length).toBe(0);
    });

    it('says that the API refuses it', async () => {
      const source = new ScriptedWorklist();
      source.instead = () => json({ code: 'forbidden', detail: 'no' }, { status: 403 });
      const client = createBrowserClient({ baseUrl: '', fetch: source.fetch });
      showPart(<Calls client={client} />);
      await expect.element(page.getByRole('list', { name: 'refused' })).toBeInTheDocument();
    });
  });
}
