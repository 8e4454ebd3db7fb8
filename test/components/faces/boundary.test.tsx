/** A part that cannot be shown: the page says so in its place, and the rest of the page goes on. */
import { beforeAll, describe, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { useConversation } from '../../../src/react/index.js';
import { Messages } from '../../../web/chat/parts/messages.js';
import { Inbox } from '../../../web/inbox/inbox.js';
import { Boundary } from '../../../web/shared/boundary.js';
import styles from '../../../web/style.css?url';
import { problem } from '../../support/pages/scripted-fetch.js';
import { suspends } from '../../support/samples/log-events.js';
import { expectAccessible, withStyles } from '../support/looks.js';
import { promise } from '../support/promise.js';
import { takeFaults } from '../support/seen-faults.js';
import { sessionOver } from '../support/session.js';
import { show, showPart } from '../support/show.js';
import { apiWith } from '../support/talk.js';
import { ScriptedWorklist, waitingItem } from '../support/worklist.js';

beforeAll(async () => await withStyles(styles));

/** A text of a later version, which is no text. */
const LATER = { words: 'Pay' } as unknown as string;

/** React writes each fault into the console, where an operator finds it. */
async function expectLogged(): Promise<void> {
  await expect.poll(() => takeFaults().join('\n')).toContain('console error');
}

describe('a part that cannot be shown', promise('G431'), () => {
  it('is named with its error, and shown again by a button or by another value', async () => {
    const plan = { fails: true };
    function Part(): string {
      if (plan.fails) throw new Error('no such plan');
      return 'The plan';
    }
    const parts = (of: number) => (
      <>
        <p>The rest</p>
        <Boundary name="This part" of={of}>
          <Part />
        </Boundary>
      </>
    );
    showPart(parts(1));
    await expect.element(page.getByText('This part cannot be shown: no such plan')).toBeVisible();
    await expect.element(page.getByText('The rest')).toBeVisible();
    await expectAccessible('a fault');
    plan.fails = false;
    await page.getByRole('button', { name: 'Show again' }).click();
    await expect.element(page.getByText('The plan')).toBeVisible();
    plan.fails = true;
    showPart(parts(2));
    await expect.element(page.getByRole('alert')).toBeVisible();
    plan.fails = false;
    showPart(parts(3));
    await expect.element(page.getByText('The plan')).toBeVisible();
    await expectLogged();
  });

  it('leaves the other messages of the chat', async () => {
    const api = apiWith(suspends('t1', 'call-1', { reason: LATER }));
    const session = sessionOver(api.fetch);
    function Talk() {
      const { conversation, view } = useConversation(session.client, 'c1');
      return <Messages {...{ session, conversation, view }} agent="support" nested={[]} />;
    }
    showPart(<Talk />);
    await expect.element(page.getByText('This call cannot be shown')).toBeVisible();
    await expect.element(page.getByRole('article', { name: 'Message of' })).toBeVisible();
    await expectLogged();
  });

  it('leaves the other calls of the inbox', async () => {
    const source = new ScriptedWorklist();
    const isOfOne = (address: unknown) => String(address).includes('/v1/conversations/');
    const session = sessionOver(async (address, init) =>
      isOfOne(address) ? problem(404, 'not_found') : await source.fetch(address, init),
    );
    const nothing = () => undefined;
    show(<Inbox session={session} onSignOut={nothing} onTenant={nothing} />);
    await expect.poll(() => source.open.length).toBe(1);
    source.whole(waitingItem('a', { title: LATER }), waitingItem('b', { title: 'Pay Bea' }));
    await expect.element(page.getByText('This call cannot be shown').first()).toBeVisible();
    await page.getByRole('button', { name: 'This call cannot be shown' }).click();
    await expect
      .element(page.getByRole('alert').getByText('This call cannot be shown'))
      .toBeVisible();
    await page.getByRole('button', { name: 'Pay Bea' }).click();
    await expect.element(page.getByRole('heading', { name: 'Pay Bea' })).toBeVisible();
    await expect.element(page.getByRole('button', { name: 'Approve', exact: true })).toBeVisible();
    await expectLogged();
  });
});
