/** The sign-in of a person whose token the API no longer takes: the page goes on with the rights of the new one. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { page } from 'vitest/browser';
import { useConversation } from '../../../src/react/index.js';
import { Messages } from '../../../web/chat/parts/messages.js';
import { json, problem } from '../../support/pages/scripted-fetch.js';
import { promise } from '../support/promise.js';
import { sessionOver } from '../support/session.js';
import { show, showPart } from '../support/show.js';
import { apiWith, REFUND } from '../support/talk.js';
import { ScriptedWorklist, waitingItem } from '../support/worklist.js';

const HOME = location.pathname;
beforeEach(() => history.replaceState(null, '', '/ui/inbox'));
afterEach(() => history.replaceState(null, '', HOME));

const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  first: ['read'],
  second: ['read', 'answer'],
};
const sessionOf = (token: string) => ({
  ...{ actor: { id: 'ann' }, verified: true, tenants: ['default'] },
  rights: RIGHTS[token] ?? [],
});

describe('a person who signs in again', promise('G432'), () => {
  it('has the rights of the new token, and the page as it was', async () => {
    const source = new ScriptedWorklist();
    let taken = 'first';
    source.instead = ({ path, headers }) => {
      const token = (headers.get('authorization') ?? '').replace('Bearer ', '');
      if (path.startsWith('/v1/session')) return json(sessionOf(token));
      if (token !== taken) return problem(401, 'unauthenticated');
      return path.startsWith('/v1/conversations/') ? problem(404, 'not_found') : undefined;
    };
    vi.stubGlobal('fetch', source.fetch);
    sessionStorage.setItem('colloquy.token', 'first');
    const { App } = await import('../../../web/app.js');
    show(<App />);
    await expect.poll(() => source.open.length).toBe(1);
    source.whole(waitingItem('a', { title: 'Pay Ann' }));
    await page.getByRole('button', { name: 'Pay Ann' }).click();
    await expect.element(page.getByText('may read calls, and not answer them')).toBeVisible();
    await page.getByRole('searchbox').fill('c-a');
    taken = 'second';
    source.stream.cut();
    await page.getByLabelText('Token').fill('second');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.element(page.getByRole('button', { name: 'Approve', exact: true })).toBeVisible();
    await expect.element(page.getByRole('searchbox')).toHaveValue('c-a');
  });

  it('may answer a call of the chat that was only shown before', async () => {
    const session = sessionOver(apiWith(REFUND).fetch, ['read']);
    function Talk() {
      const { conversation, view } = useConversation(session.client, 'c1');
      return <Messages {...{ session, conversation, view }} agent="support" nested={[]} />;
    }
    showPart(<Talk />);
    await expect.element(page.getByText('Others may answer this call')).toBeVisible();
    session.renew('second', { ...session.caller, rights: ['read', 'answer'] });
    await expect.element(page.getByRole('button', { name: 'Approve', exact: true })).toBeVisible();
  });
});
