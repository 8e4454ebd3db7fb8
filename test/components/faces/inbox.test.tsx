/** The list of the inbox, over a worklist without a server. */
import { flushSync } from 'react-dom';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { page } from 'vitest/browser';
import { Inbox } from '../../../web/inbox/inbox.js';
import { Deadline } from '../../../web/inbox/list/deadline.js';
import styles from '../../../web/style.css?url';
import { json, problem } from '../../support/pages/scripted-fetch.js';
import { suspends } from '../../support/samples/log-events.js';
import { focus, press } from '../support/keys.js';
import { expectAccessible, look, withStyles } from '../support/looks.js';
import { promise } from '../support/promise.js';
import { sessionOver } from '../support/session.js';
import { show, showPart } from '../support/show.js';
import { apiWith, REFUND } from '../support/talk.js';
import { ScriptedWorklist, waitingItem } from '../support/worklist.js';

beforeAll(async () => await withStyles(styles));
beforeEach(() => history.replaceState(null, '', location.pathname));

const rows = () => [...document.querySelectorAll<HTMLElement>('.row')];
const focused = () => document.activeElement?.closest('.row')?.textContent;
/** The conversations of the rows, in the order in which they are seen. */
const seen = () =>
  rows()
    .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
    .map(({ textContent }) => /c-\w+/.exec(textContent)?.[0]);

/** No conversation can be read. */
const noConversation = async () => problem(404, 'not_found');

type Calls = readonly ReturnType<typeof waitingItem>[];

const openInbox = async (...calls: Calls) => await openOver(noConversation, ...calls);

/** `conversations`: answers requests to conversations. */
async function openOver(conversations: typeof fetch, ...calls: Calls) {
  const source = new ScriptedWorklist();
  const isOfOne = (address: unknown) => String(address).includes('/v1/conversations/');
  const session = sessionOver(
    async (address, init) => await (isOfOne(address) ? conversations : source.fetch)(address, init),
  );
  const nothing = () => undefined;
  show(<Inbox session={session} onSignOut={nothing} onTenant={nothing} />);
  await expect.poll(() => source.open.length).toBe(1);
  source.whole(...calls);
  await expect.poll(() => rows().length).toBe(calls.length);
  return source;
}

describe('the rows of the inbox', () => {
  it(
    'stay where they are while calls come and end, until the person asks',
    promise('G412'),
    async () => {
      const late = waitingItem('late', { hours: 5 });
      const source = await openInbox(late, waitingItem('next', { hours: 3 }), waitingItem('soon'));
      expect(seen()).toEqual(['c-soon', 'c-next', 'c-late']);
      const tops = () => rows().map((row) => row.getBoundingClientRect().top);
      const before = tops();
      focus(page.getByRole('button', { name: /c-next/ }));
      source.adds(waitingItem('now', { hours: 0.1 }));
      source.adds(waitingItem('one', { hours: 2.5 }));
      source.adds(waitingItem('two', { hours: 9 }));
      // Its deadline moves before that of the first.
      source.adds({ ...late, deadline: new Date(Date.now() + 60_000).toISOString() });
      source.ends('soon');
      const changes = page.getByRole('button', { name: '3 new, 1 done' });
      await expect.element(changes).toBeVisible();
      expect(seen()).toEqual(['c-soon', 'c-next', 'c-late']);
      expect(tops()).toEqual(before);
      await expect.element(page.getByText('waits no longer')).toBeVisible();
      expect(focused()).toContain('c-next');
      await changes.click();
      await expect.poll(seen).toEqual(['c-late', 'c-now', 'c-one', 'c-next', 'c-two']);
      await expect.element(changes).not.toBeInTheDocument();
    },
  );

  it('come anew with another order, view or search', promise('G412'), async () => {
    const old = new Date(Date.now() - 3_600_000).toISOString();
    const source = await openInbox(
      waitingItem('a', { hours: 1.5, tool: 'pay' }),
      waitingItem('b', { hours: 4, tool: 'ask', openedAt: old }),
    );
    source.adds(waitingItem('c', { hours: 0.5, tool: 'pay' }));
    await expect.element(page.getByRole('button', { name: '1 new' })).toBeVisible();
    await page.getByLabelText('Sort').selectOptions('waiting longest');
    await expect.poll(seen).toEqual(['c-b', 'c-a', 'c-c']);
    await page.getByRole('searchbox').fill('c-a');
    await expect.poll(seen).toEqual(['c-a']);
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: /^Expiring/ }).click();
    await expect.poll(seen).toEqual(['c-c']);
  });

  it('are chosen by keys, of which Enter and Escape decide nothing', promise('G412'), async () => {
    const source = await openInbox(waitingItem('a'), waitingItem('b', { hours: 3 }));
    await press('j');
    await expect.element(page.getByRole('heading', { name: 'pay' })).toBeVisible();
    await expect.poll(focused).toContain('c-a');
    await press('Enter', 'Escape', 'Enter');
    await press('j');
    await expect.poll(focused).toContain('c-b');
    expect(document.querySelector('.answer')).toBeNull();
    expect(source.calls.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

/** The answers that the page has sent while it was left or hidden. */
const keptOf = ({ calls }: ScriptedWorklist) =>
  calls
    .filter(({ method, keepalive }) => method === 'POST' && keepalive)
    .map(({ body }) => body['items']);

/** Hides the page, as a phone does when it is locked. */
function hidePage(): void {
  Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
  document.dispatchEvent(new Event('visibilitychange'));
  Reflect.deleteProperty(document, 'visibilityState');
}

describe('an approval by its key', () => {
  it('is held, and sent when the page is hidden', promise('G375'), async () => {
    const source = await openInbox(waitingItem('a', { argsDigest: 'd-1' }), waitingItem('b'));
    await press('j', 'a');
    await expect.element(page.getByRole('button', { name: 'Undo' })).toBeVisible();
    expect(keptOf(source)).toEqual([]);
    hidePage();
    const answer = { conversationId: 'c-a', resolution: { type: 'approve' }, argsDigest: 'd-1' };
    await expect.poll(() => keptOf(source)).toMatchObject([[answer]]);
  });

  it('is for the arguments that are shown, also where the list has others by now', {
    ...promise('G427'),
  }, async () => {
    const item = waitingItem('a', { toolCallId: 'call-1', argsDigest: 'd-2' });
    const source = await openOver(apiWith(REFUND).fetch, item);
    await press('j');
    await expect.element(page.getByText('p_1')).toBeVisible();
    await press('a');
    await expect.element(page.getByRole('button', { name: 'Undo' })).toBeVisible();
    hidePage();
    await expect.poll(() => keptOf(source)).toMatchObject([[{ argsDigest: 'd-1' }]]);
  });

  it('that was queued says why a worker has refused it since', promise('G375'), async () => {
    const api = apiWith(REFUND);
    const item = waitingItem('a', { toolCallId: 'call-1', argsDigest: 'd-1' });
    const source = await openOver(api.fetch, item);
    source.instead = ({ method }) =>
      method === 'POST'
        ? json({ results: [{ verdict: 'queued', reason: 'no_worker', httpStatus: 202 }] })
        : undefined;
    await press('j');
    await expect.element(page.getByText('p_1')).toBeVisible();
    await press('a');
    await expect.element(page.getByRole('button', { name: 'Undo' })).toBeVisible();
    hidePage();
    await expect.element(page.getByText('your answer is kept')).toBeVisible();
    const [sent] = keptOf(source) as readonly (readonly { readonly requestId: string }[])[];
    const requestId = sent?.[0]?.requestId ?? '';
    const ann = { id: 'ann', verified: true, channel: 'api' } as const;
    const detail = JSON.stringify({ verdict: 'forbidden', reason: 'not a lead any more' });
    const refused = { toolCallId: 'call-1', verdict: 'forbidden', actor: ann, detail } as const;
    api.log({ type: 'resolution_refused', ...refused, requestId });
    await expect
      .element(page.getByText('The answer that was kept: You may not answer this call: not a lead'))
      .toBeVisible();
  });
});

describe('the calls that are selected', promise('G377'), () => {
  it('are all decided, also where the list was narrowed since', async () => {
    const source = await openInbox(
      waitingItem('a', { tool: 'pay', argsDigest: 'd-1' }),
      waitingItem('b', { tool: 'mail', argsDigest: 'd-2', hours: 3 }),
    );
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByRole('searchbox').fill('c-a');
    await expect.poll(seen).toEqual(['c-a']);
    await page.getByRole('button', { name: 'Approve them' }).click();
    await expect.element(page.getByText('1 of them are not in the list')).toBeVisible();
    await page.getByRole('button', { name: 'Approve 2 calls' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await expect
      .poll(() => source.calls.filter(({ method }) => method === 'POST')[0]?.body['items'])
      .toMatchObject([{ conversationId: 'c-a' }, { conversationId: 'c-b' }]);
  });
});

describe('the address of the inbox', () => {
  it('names the open call, so that a link opens it, and the title how many wait', async () => {
    history.replaceState(null, '', `${location.pathname}?call=b%2F1`);
    await openInbox(waitingItem('a'), waitingItem('b/1', { title: 'Pay Bea', hours: 3 }));
    await expect.element(page.getByRole('heading', { name: 'Pay Bea' })).toBeVisible();
    const link = page.getByRole('link', { name: 'c-b/1' });
    await expect.element(link).toHaveAttribute('href', '/ui/conversations/c-b%2F1');
    await expect.poll(() => document.title).toBe('(2) Inbox');
    await press('k');
    await expect.poll(() => new URLSearchParams(location.search).get('call')).toBe('a');
  });

  it('is followed when the browser goes back', async () => {
    history.replaceState(null, '', `${location.pathname}?call=a`);
    await openInbox(waitingItem('a', { title: 'Pay Ann' }), waitingItem('b', { title: 'Pay Bea' }));
    await expect.element(page.getByRole('heading', { name: 'Pay Ann' })).toBeVisible();
    history.pushState(null, '', location.href);
    await press('j');
    await expect.element(page.getByRole('heading', { name: 'Pay Bea' })).toBeVisible();
    history.back();
    await expect.element(page.getByRole('heading', { name: 'Pay Ann' })).toBeVisible();
  });

  it('of a call that is not in the list says so', async () => {
    history.replaceState(null, '', `${location.pathname}?call=gone`);
    await openInbox(waitingItem('a'));
    await expect.element(page.getByText('The chosen call is not in the list')).toBeVisible();
  });
});

it('a call that is opened on a phone is in sight with its decision, and so is the list again', async () => {
  await look({ colorScheme: 'light', width: 390, zoom: 1 });
  const calls = Array.from({ length: 6 }, (_, index) => waitingItem(`r${index}`));
  await openInbox(...calls);
  await page.getByRole('button', { name: 'c-r0' }).click();
  await expect.element(page.getByRole('heading', { name: 'pay' })).toBeInViewport();
  await expect.element(page.getByRole('button', { name: 'Approve', exact: true })).toBeInViewport();
  await expectAccessible('a call on a phone');
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await expect.element(page.getByRole('button', { name: 'c-r0' })).toBeInViewport();
});

it('the buttons of a decision stay in sight below arguments of any length', async () => {
  const prompt = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`field${index}`, `value ${index}`]),
  );
  const long = suspends('t1', 'call-1', { argsDigest: 'd-1', prompt });
  await openOver(apiWith(long).fetch, waitingItem('a', { toolCallId: 'call-1' }));
  await press('j');
  await expect.element(page.getByText('value 59')).toBeInTheDocument();
  await expect.element(page.getByRole('heading', { name: 'pay' })).toBeInViewport();
  const approve = page.getByRole('button', { name: 'Approve', exact: true });
  await expect.element(approve).toBeInViewport();
  await expectAccessible('long arguments');
  await page.getByRole('button', { name: 'Deny …' }).click();
  await expect.element(page.getByLabelText('Reason')).toBeInViewport();
});

it('an empty list names the search and the tool that leave no call, and clears them', async () => {
  await openInbox(waitingItem('a', { tool: 'pay' }), waitingItem('b', { tool: 'mail' }));
  await page.getByRole('combobox', { name: 'Tool' }).selectOptions('mail');
  await page.getByRole('searchbox').fill('no such call');
  await expect.element(page.getByText('No call of mail has “no such call”.')).toBeVisible();
  await expectAccessible('an empty list');
  await page.getByRole('button', { name: 'Clear search and tool' }).click();
  await expect.poll(() => seen().length).toBe(2);
  await expect.element(page.getByRole('searchbox')).toHaveValue('');
});

describe('a snooze', () => {
  it('keeps its row in a view that has snoozed calls, and takes it from the others', async () => {
    const calls = [waitingItem('a', { hours: 30 }), waitingItem('b', { hours: 31 })];
    const source = await openInbox(...calls);
    await press('j');
    await page.getByRole('button', { name: '1 hour' }).click();
    await expect.poll(seen).toEqual(['c-b']);
    await page.getByRole('button', { name: /^Snoozed/ }).click();
    await expect.poll(seen).toEqual(['c-a']);
    await press('j');
    await page.getByRole('button', { name: 'Show again' }).click();
    await expect.poll(seen).toEqual([]);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await expect.poll(() => source.open.length).toBe(1);
    source.whole(...calls);
    await expect.poll(seen).toEqual(['c-a', 'c-b']);
    await press('j');
    await page.getByRole('button', { name: '1 hour' }).click();
    await expect.element(page.getByRole('button', { name: 'Show again' })).toBeVisible();
    expect(seen()).toEqual(['c-a', 'c-b']);
    expect(document.querySelector('.fresh')).toBeNull();
  });
});

it('an answer is sent for days until there is a verdict', promise('G429'), async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const source = await openInbox(waitingItem('a', { hours: 100, argsDigest: 'd-1' }));
  source.instead = ({ method }) => (method === 'POST' ? problem(503, 'draining') : undefined);
  await press('j', 'a');
  await page.getByRole('button', { name: 'Send now' }).click();
  const sent = () => source.calls.filter(({ method }) => method === 'POST').length;
  await expect.poll(sent).toBe(1);
  vi.setSystemTime(Date.now() + 3 * 86_400_000);
  await expect.poll(sent).toBeGreaterThan(2);
  await expect.element(page.getByText('it is asked again until there is one')).toBeVisible();
  source.instead = ({ method }) =>
    method === 'POST'
      ? json({ results: [{ verdict: 'accepted', toolCallId: 'call_1', seq: 9, httpStatus: 200 }] })
      : undefined;
  await expect.element(page.getByText('Approved')).toBeVisible();
});

describe('the deadline of a call', () => {
  it('is said in words, and drawn as the part of the time that is left', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: 0 });
    const times = {
      openedAt: new Date(0).toISOString(),
      deadline: new Date(600_000).toISOString(),
    };
    showPart(<Deadline {...times} />);
    const shown = () => [
      document.querySelector('time')?.textContent,
      document.querySelector<HTMLElement>('.bar span')?.style.inlineSize,
      document.querySelector('.deadline')?.classList.contains('soon'),
    ];
    expect(shown()).toEqual(['10 min left', '100%', false]);
    const later = (ms: number) => {
      flushSync(() => void vi.advanceTimersByTime(ms));
      return shown();
    };
    expect(later(300_000)).toEqual(['5 min left', '50%', false]);
    expect(later(240_000)).toEqual(['1 min left', '10%', true]);
    expect(later(90_000)).toEqual(['deadline passed 30 s ago', '0%', true]);
  });
});
