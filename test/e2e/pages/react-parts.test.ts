/** The parts of colloquy/react in a browser, with React 18 and 19 in strict mode, over the API of one conversation. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { accessibilityFaults } from '../../support/browser/accessibility.js';
import { useBrowser } from '../../support/browser/browser.js';
import { bundledPage, servedPage } from '../../support/pages/bundled-page.js';
import { ScriptedApi } from '../../support/pages/scripted-api.js';
import { json, problem } from '../../support/pages/scripted-fetch.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { asks, started, suspends } from '../../support/samples/log-events.js';
import { until } from '../../support/until.js';

const PAGE = fileURLToPath(new URL('../fixtures/parts/page.mjs', import.meta.url));
const browser = useBrowser();

const REFUND = suspends('t1', 'call-1', {
  ...{ name: 'payments.refund', reason: 'Money leaves the house', argsDigest: 'd-1' },
  prompt: { paymentId: 'p_1', cents: 7_500 },
});
const QUESTION = suspends('t1', 'call-2', {
  ...{
    name: 'customer.ask',
    executor: 'human',
    kind: 'elicitation',
    prompt: { question: 'Which?' },
  },
  answerSchema: {
    ...{ type: 'object', required: ['answer'], additionalProperties: false },
    properties: { answer: { type: 'string', minLength: 1 } },
  },
});
const CART = suspends('t1', 'call-3', {
  ...{ name: 'cart.read', executor: 'client', kind: 'client_execution', prompt: { currency: '€' } },
});

/** The call of a sub-agent, which is at work. */
const SUB_AGENT = suspends('t1', 'call-4', {
  ...{ name: 'research', executor: 'internal', kind: 'external_execution', childId: 'child-1' },
});
const CALLED = { turnId: 't1', step: 1 } as const;
const CALLS_SUB_AGENT: EventBody = {
  ...{ type: 'assistant_message', ...CALLED, messageId: 't1.1' },
  parts: [{ type: 'tool_call', toolCallId: 'call-4', name: 'research', argumentsJson: '{}' }],
};
const SUB_AGENT_ENDS: EventBody = {
  ...{ type: 'tool_result', ...CALLED, toolCallId: 'call-4', name: 'research' },
  result: { status: 'resolved', envelope: { ok: true, result: 1 }, provenance: 'trusted' },
};
/** From Ann, to the turn that runs. */
const JOINS: EventBody = {
  ...{ type: 'user_message', turnId: 't1', messageId: 't1.5', requestId: 'r-2', onBusy: 'steer' },
  ...{ actor: { id: 'ann', verified: true, channel: 'api' } },
  parts: [{ type: 'text', text: 'Hurry' }],
};
/** Waits two levels below. */
const WAITS_BELOW = {
  ...{ ref: 'child-2/call-1', conversationId: 'child-2', agent: 'buyer', name: 'pay' },
  ...{ toolCallId: 'call-1', turnId: 't1', executor: 'server', kind: 'approval' },
  ...{ prompt: { cents: 7_500 }, argsDigest: 'd-1' },
  ...{ openedAt: '2030-01-01T00:00:00.000Z', deadline: '2030-01-02T00:00:00.000Z' },
  path: [
    { conversationId: 'lead-1', toolCallId: 'call-4', name: 'research' },
    { conversationId: 'child-1', toolCallId: 'call-8', name: 'buy' },
  ],
};

describe.each([18, 19] as const)('with React %i', (version) => {
  let code: string;

  beforeAll(async () => {
    code = await bundledPage(PAGE, version);
  }, patient(60_000));

  /** Opens the page on a conversation in which these calls wait. */
  async function opened(api: ScriptedApi, expected?: RegExp): Promise<Page> {
    const address = await servedPage(code, api);
    const page = await browser.open(address, expected === undefined ? {} : { expected });
    expect(await page.evaluate('reactVersion')).toMatch(new RegExp(`^${version}\\.`));
    await page.evaluate('mount(["Lamp"])');
    return page;
  }

  function apiWith(...calls: readonly ReturnType<typeof suspends>[]): ScriptedApi {
    const api = new ScriptedApi(started(), ...asks('t1'), ...calls);
    api.instead = ({ method, path }) => {
      if (method === 'POST' && path.endsWith('/resolution'))
        return json({ verdict: 'accepted', toolCallId: 'call-1', seq: 9 });
      return undefined;
    };
    return api;
  }

  const answersOf = (api: ScriptedApi): readonly unknown[] =>
    api.sent('POST', '/resolution').map(({ body }) => body['resolution']);

  it('an approval is decided by Space or a click, never by Enter', promise('G393'), async () => {
    const api = apiWith(REFUND);
    const page = await opened(api);
    const approval = page.getByRole('region', { name: 'Approval: payments.refund' });
    await approval.getByText('Refund 75.00 € of p_1?').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const approve = approval.getByRole('button', { name: 'Approve' });
    await approve.focus();
    await page.keyboard.press('Enter');
    await approval.getByRole('button', { name: 'Deny …' }).click();
    await page.keyboard.type('no');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    expect(answersOf(api)).toEqual([]);
    await approve.focus();
    await page.keyboard.press('Space');
    await approval.getByText('Approved').waitFor();
    expect(await approve.isDisabled()).toBe(true);
    expect(api.sent('POST', '/resolution').map(({ body }) => body)).toMatchObject([
      { resolution: { type: 'approve' }, argsDigest: 'd-1' },
    ]);
  });

  it(
    'is denied with a reason, edited in a form, and says each verdict in words',
    promise('G393'),
    async () => {
      const api = apiWith(REFUND);
      const page = await opened(api, /status of 4/);
      const approval = page.getByRole('region', { name: 'Approval: payments.refund' });
      api.instead = ({ method }) =>
        method === 'POST'
          ? json({ verdict: 'forbidden', reason: 'not your call' }, { status: 403 })
          : undefined;
      await approval.getByRole('button', { name: 'Deny …' }).click();
      await page.keyboard.type('too much');
      await page.keyboard.press('Control+Enter');
      await approval.getByText('You may not answer this call: not your call').waitFor();
      api.instead = ({ method }) => (method === 'POST' ? problem(422, 'invalid_body') : undefined);
      await approval.getByRole('button', { name: 'Edit …' }).click();
      await approval.getByLabel('cents').fill('nine');
      await approval.getByText('cents is not JSON').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await approval.getByLabel('cents').fill('900');
      await page.keyboard.press('Control+Enter');
      await approval.getByText('Not sent: invalid_body it is').waitFor();
      expect(answersOf(api)).toEqual([
        { type: 'deny', reason: 'too much' },
        { type: 'approve', input: { paymentId: 'p_1', cents: 900 } },
      ]);
      // The answer without a verdict is repeated as the same request.
      await page.keyboard.press('Control+Enter');
      await until('the answer is repeated', () => answersOf(api).length === 3);
      const ids = api.sent('POST', '/resolution').map(({ body }) => body['requestId']);
      expect(ids).toEqual([expect.any(String), ids[2], expect.any(String)]);
      expect(ids[0]).not.toBe(ids[1]);
    },
  );

  it('a question has a form, which names what is missing, with words of the application', async () => {
    const api = apiWith(QUESTION);
    const page = await opened(api);
    const question = page.getByRole('region', { name: 'Question: customer.ask' });
    await question.getByText('Which?').waitFor();
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.getByText('answer is required').waitFor();
    await page.keyboard.type('Blue');
    await page.keyboard.press('Enter');
    expect(answersOf(api)).toEqual([]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await question.getByRole('button', { name: 'I would rather not say' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await until('the answer is sent', () => answersOf(api).length === 1);
    expect(answersOf(api)).toEqual([{ type: 'answer', value: { answer: 'Blue' } }]);
  });

  it('calls of sub-agents are listed with their paths, and answered in their own conversations', {
    ...promise('G393'),
  }, async () => {
    const api = apiWith();
    let listed: readonly object[] = [WAITS_BELOW];
    api.instead = ({ method, path }) => {
      if (path.includes('/pending?nested=true')) return json({ pending: listed, seq: 9 });
      if (method === 'POST') return json({ verdict: 'accepted', toolCallId: 'call-1', seq: 9 });
      return undefined;
    };
    const page = await opened(api);
    await until('the page follows', () => api.streams.length > 0);
    await page.evaluate('unmount()');
    const { length } = api.streams;
    await page.evaluate('mountNested()');
    await until('the page follows anew', () => api.streams.length > length);
    // Nothing is asked while no sub-agent is at work.
    expect(api.sent('GET', '/pending')).toEqual([]);
    api.log(SUB_AGENT);
    const call = page.getByRole('region', { name: 'research > buy' });
    await call.getByText('buyer: waiting_for_you').waitFor();
    await until('it was read again', () => api.sent('GET', '/pending').length > 2);
    expect(await page.evaluate('new Set(renders).size')).toBe(2);
    await call.getByRole('button', { name: 'Approve' }).click();
    await call.getByText('Approved').waitFor();
    expect(api.sent('POST', '/resolution').map(({ path, body }) => [path, body])).toEqual([
      [
        '/v1/conversations/child-2/tool-calls/call-1/resolution',
        expect.objectContaining({ resolution: { type: 'approve' }, argsDigest: 'd-1' }) as unknown,
      ],
    ]);
    listed = [];
    await call.waitFor({ state: 'detached' });
  });

  it('calls of sub-agents are judged by the messages that are loaded, and begin anew with later ones', {
    ...promise('G393'),
  }, async () => {
    const api = apiWith();
    const forOthers = { ...WAITS_BELOW, audience: { exclude: ['requester'] } };
    let reads = () => Promise.resolve(json({ pending: [forOthers], seq: 9 }));
    api.instead = ({ path }) => (path.includes('/pending?nested=true') ? reads() : undefined);
    const page = await opened(api);
    await until('the page follows', () => api.streams.length > 0);
    await page.evaluate('unmount()');
    const { length } = api.streams;
    await page.evaluate('mountNested()');
    await until('the page follows anew', () => api.streams.length > length);
    api.log(CALLS_SUB_AGENT, SUB_AGENT);
    const call = page.getByRole('region', { name: 'research > buy' });
    await call.getByText('buyer: waiting_for_you').waitFor();
    // The same list is read again, but Ann is one of those who asked.
    api.log(JOINS);
    await call.getByText('buyer: waiting_for_others').waitFor();
    let release: (response: Response) => void = () => undefined;
    const held = new Promise<Response>((resolve) => {
      release = resolve;
    });
    reads = () => held;
    api.log(SUB_AGENT_ENDS);
    await call.waitFor({ state: 'detached' });
    const asked = api.sent('GET', '/pending').length;
    api.log(SUB_AGENT);
    await until('it is read', () => api.sent('GET', '/pending').length > asked);
    expect(await call.count()).toBe(0);
    release(json({ pending: [WAITS_BELOW], seq: 12 }));
    await call.waitFor();
  });

  it('forms show the values that the application keeps, also where it has put them back', async () => {
    const page = await opened(apiWith());
    await page.evaluate('unmount()');
    await page.evaluate('mountForms({ answer: "Blue" }, { cents: "900" })');
    const [answer, cents] = [page.getByLabel('answer'), page.getByLabel('cents')];
    const values = async () => [await answer.inputValue(), await cents.inputValue()];
    expect(await values()).toEqual(['Blue', '900']);
    await answer.fill('Red');
    await cents.fill('800');
    expect(await page.evaluate('kept')).toEqual([{ answer: 'Red' }, { cents: '800' }]);
    expect(await values()).toEqual(['Red', '800']);
    await page.evaluate('mountForms(undefined, undefined)');
    expect(await values()).toEqual(['', '7500']);
  });

  it('a function of a component runs calls while it is mounted, with what it was rendered with last', {
    ...promise('G393'),
  }, async () => {
    const api = apiWith();
    api.instead = ({ method, path }) => {
      if (method !== 'POST') return undefined;
      const claim = { claimId: 'claim-1', leaseUntil: '2030-01-01T01:00:00.000Z', leaseMs: 30_000 };
      if (path.endsWith('/claim'))
        return json({ verdict: 'accepted', toolCallId: 'call-3', ...claim });
      return json({ verdict: 'accepted', toolCallId: 'call-3', seq: 9 });
    };
    const page = await opened(api);
    await until('the page follows', () => api.streams.length > 0);
    expect(await page.evaluate('isRegistered("cart.read")')).toBe(true);
    await page.evaluate('mount(["Desk"])');
    api.log(CART);
    await until('the result is sent', () => answersOf(api).length === 1);
    expect(answersOf(api)).toEqual([{ type: 'result', value: { items: ['Desk (€)'] } }]);
    await page.evaluate('unmount()');
    expect(await page.evaluate('isRegistered("cart.read")')).toBe(false);
    await page.evaluate('mount(["Bed"])');
    expect(await page.evaluate('isRegistered("cart.read")')).toBe(true);
  });
});
