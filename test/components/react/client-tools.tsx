/** Functions of components as tools of the agent. */
import { Component, type ReactNode } from 'react';
import { describe, expect, it } from 'vitest';
import type { BrowserClient } from '../../../src/browser/index.js';
import { useClientTools, useConversation } from '../../../src/react/index.js';
import { json } from '../../support/pages/scripted-fetch.js';
import { promise } from '../support/promise.js';
import { takeFaults } from '../support/seen-faults.js';
import { hide, show } from '../support/show.js';
import { accepted, answersOf, apiWith, CART, clientOf } from '../support/talk.js';
import { type ReactVersion, showChat } from './chat.js';

const LEASE_MS = 30_000;

function claim() {
  const leaseUntil = new Date(Date.now() + LEASE_MS).toISOString();
  return { claimId: 'claim-1', leaseUntil, leaseMs: LEASE_MS };
}

/** The API of a conversation whose call the first client that claims it may run. */
function claimableApi() {
  const api = apiWith();
  api.instead = ({ method, path }) => {
    if (method !== 'POST') return undefined;
    if (!path.endsWith('/claim')) return accepted('call-3');
    if (api.sent('POST', '/claim').length > 1) {
      const held = { verdict: 'stale', why: 'held', status: 'awaiting_client', by: 'ann' };
      const { leaseUntil: until } = claim();
      return json({ ...held, at: '2030-01-01T00:00:00.000Z', until }, { status: 409 });
    }
    return json({ verdict: 'accepted', toolCallId: 'call-3', ...claim() });
  };
  return api;
}

/** Whether a function of the tool is registered: its name is taken then. */
function isRegistered(client: BrowserClient, name: string): boolean {
  try {
    client.registerTool(name, () => null)();
    return false;
  } catch {
    return true;
  }
}

/** A tab of its own with the conversation; `ran` grows by its name. */
function Tab(props: {
  readonly client: BrowserClient;
  readonly name: string;
  readonly ran: string[];
}) {
  const { client, name, ran } = props;
  useConversation(client, 'order-42');
  useClientTools(client, {
    'cart.read': () => {
      ran.push(name);
      return { items: [name] };
    },
  });
  return undefined;
}

/** A component that shows nothing once a component in it has failed; `caught` grows by the errors. */
function boundary() {
  const caught: unknown[] = [];
  class Caught extends Component<{ readonly children: ReactNode }, { readonly failed: boolean }> {
    override state = { failed: false };

    static getDerivedStateFromError(): { readonly failed: boolean } {
      return { failed: true };
    }

    override componentDidCatch(error: unknown): void {
      caught.push(error);
    }

    override render(): ReactNode {
      return this.state.failed ? undefined : this.props.children;
    }
  }
  return { Caught, caught };
}

export function clientToolTests(version: ReactVersion): void {
  describe('a function of a component', () => {
    it(
      'runs calls while it is mounted, with what it was rendered with last',
      promise('G393'),
      async () => {
        const api = claimableApi();
        const client = clientOf(api);
        showChat(version, { client });
        await expect.poll(() => api.streams.length).toBeGreaterThan(0);
        expect(isRegistered(client, 'cart.read')).toBe(true);
        showChat(version, { client, items: ['Desk'] });
        api.log(CART);
        await expect.poll(() => answersOf(api).length).toBe(1);
        expect(answersOf(api)).toEqual([{ type: 'result', value: { items: ['Desk (€)'] } }]);
        hide();
        expect(isRegistered(client, 'cart.read')).toBe(false);
        showChat(version, { client, items: ['Bed'] });
        expect(isRegistered(client, 'cart.read')).toBe(true);
      },
    );

    it('runs a call in one of two tabs, under its claim', promise('G393'), async () => {
      const api = claimableApi();
      const ran: string[] = [];
      const [one, two] = [clientOf(api), clientOf(api)];
      show(
        <>
          <Tab client={one} name="one" ran={ran} />
          <Tab client={two} name="two" ran={ran} />
        </>,
      );
      const open = () => api.streams.filter(({ isCancelled }) => !isCancelled);
      await expect.poll(() => open().length).toBe(2);
      const before = api.events.length;
      api.log(CART);
      const [event] = api.events.slice(before);
      for (const stream of open())
        if (event !== undefined && stream !== api.stream) stream.send(event);
      await expect.poll(() => api.sent('POST', '/claim').length).toBe(2);
      await expect.poll(() => answersOf(api).length).toBe(1);
      expect(ran).toHaveLength(1);
      expect(api.sent('POST', '/resolution').map(({ body }) => body)).toMatchObject([
        { resolution: { type: 'result', value: { items: ran } }, claimId: 'claim-1' },
      ]);
    });

    it('that has a name of another one is an error, and takes no name', async () => {
      const client = clientOf(apiWith());
      const remove = client.registerTool('cart.read', () => null);
      const Both = () => {
        useClientTools(client, { 'cart.add': () => null, 'cart.read': () => null });
        return undefined;
      };
      const { Caught, caught } = boundary();
      show(
        <Caught>
          <Both />
        </Caught>,
      );
      await expect.poll(() => caught.length).toBeGreaterThan(0);
      expect(String(caught[0])).toMatch(/TypeError: .*cart\.read/);
      expect(isRegistered(client, 'cart.add')).toBe(false);
      // React itself says in the console that a component has failed.
      expect(takeFaults().join(' ')).toMatch(/cart\.read/);
      remove();
    });
  });
}
