/** Acts of a person that the API does not answer: the page says so after a minute, and a repeat counts once. */
import { describe, expect, it, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { Rule } from '../../../src/browser/index.js';
import { Extend } from '../../../web/inbox/detail/extend.js';
import { Rules } from '../../../web/inbox/detail/rules.js';
import { Send } from '../../../web/studio/acts/send.js';
import { useLog } from '../../../web/studio/hooks/use-log.js';
import { json } from '../../support/pages/scripted-fetch.js';
import { promise } from '../support/promise.js';
import { sessionOver } from '../support/session.js';
import { showPart } from '../support/show.js';
import { apiWith } from '../support/talk.js';

const RULE: Rule = {
  ...{ ruleId: 'rule-1', tool: 'pay', for: 'conversation' },
  decision: 'approve',
  actor: { id: 'ann', verified: true, channel: 'api' },
  at: new Date().toISOString(),
};

/** Shows the acts on a conversation whose API takes none of them. */
function showActs() {
  const api = apiWith();
  api.instead = ({ method }) => {
    if (method !== 'GET') throw new TypeError('fetch failed');
    return undefined;
  };
  const session = sessionOver(api.fetch, ['read', 'answer', 'send', 'cancel']);
  function Acts() {
    const log = useLog(session, 'c1');
    const conversation = session.client.conversation('c1');
    const asked = { conversationId: 'c1', tool: 'pay', turnId: 't1', input: {} };
    return (
      <>
        <Extend conversation={conversation} toolCallId="call-1" />
        <Rules session={session} {...asked} rules={[RULE]} />
        <Send {...{ session, id: 'c1', log, turns: [], conversation }} />
      </>
    );
  }
  showPart(<Acts />);
  return api;
}

describe('an act that the API does not answer', promise('G429'), () => {
  it.each([
    ['+1 h', '/extend', 'Not extended: The API does not answer'],
    ['Revoke', '/rules/rule-1', 'Not revoked: The API does not answer'],
    ['Stop the turn', '/cancel', 'The API does not answer'],
    ['Close the conversation', '/close', 'The API does not answer'],
  ])('has failed after a minute, and the page says so: %s', async (name, path, said) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { calls } = showActs();
    await page.getByRole('button', { name }).click();
    await expect.poll(() => calls.some((call) => call.path.includes(path))).toBe(true);
    vi.setSystemTime(Date.now() + 61_000);
    await expect.element(page.getByText(said)).toBeVisible();
  });
});

it('a stop names the turn that is shown, so it stops no later one', async () => {
  const api = showActs();
  api.instead = ({ method }) =>
    method === 'POST' ? json({ status: 'done', cancelled: true, turnId: 't1' }) : undefined;
  await page.getByRole('button', { name: 'Stop the turn' }).click();
  await expect.element(page.getByText('The turn is being stopped')).toBeVisible();
  api.instead = ({ method }) =>
    method === 'POST' ? json({ status: 'done', cancelled: false }) : undefined;
  await page.getByRole('button', { name: 'Stop the turn' }).click();
  await expect.element(page.getByText('The turn has ended already')).toBeVisible();
  expect(api.sent('POST', '/cancel').map(({ body }) => body['turnId'])).toEqual(['t1', 't1']);
});

it('an extension that is pressed again after a lost answer is the same request', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const api = showActs();
  const hour = page.getByRole('button', { name: '+1 h' });
  await hour.click();
  await expect.poll(() => api.sent('POST', '/extend').length).toBe(1);
  vi.setSystemTime(Date.now() + 61_000);
  await expect.element(page.getByText('Not extended')).toBeVisible();
  const deadline = new Date().toISOString();
  api.instead = ({ method }) =>
    method === 'POST' ? json({ verdict: 'accepted', deadline, seq: 9 }) : undefined;
  await hour.click();
  await expect.element(page.getByText('Waits until')).toBeVisible();
  await hour.click();
  await expect.poll(() => api.sent('POST', '/extend').length).toBeGreaterThan(2);
  const ids = api.sent('POST', '/extend').map(({ body }) => body['requestId']);
  const [first] = ids;
  expect(ids.slice(0, -1).every((id) => id === first)).toBe(true);
  expect(ids.at(-1)).not.toBe(first);
});
