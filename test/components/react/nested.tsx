/** Calls of sub-agents, at any depth, in the page of the conversation that they work for. */
import { describe, expect, it, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { BrowserClient, NestedPendingView } from '../../../src/browser/index.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { Approval, useConversation, useNestedPending } from '../../../src/react/index.js';
import { json } from '../../support/pages/scripted-fetch.js';
import { suspends } from '../../support/samples/log-events.js';
import { promise } from '../support/promise.js';
import { showPart } from '../support/show.js';
import { accepted, apiWith, clientOf } from '../support/talk.js';

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
/** Milliseconds between two reads. */
const PAUSE_MS = 2_000;
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

/** Shows the waiting calls of the sub-agents of `lead-1`. Returns the lists of all renders, which grow. */
function showNested(client: BrowserClient): readonly (readonly NestedPendingView[])[] {
  const renders: (readonly NestedPendingView[])[] = [];
  function Nested() {
    const calls = useNestedPending(client, useConversation(client, 'lead-1'));
    renders.push(calls);
    return calls.map((call) => (
      <section key={call.ref} aria-label={call.path.map(({ name }) => name).join(' > ')}>
        <p>
          {call.agent}: {call.state}
        </p>
        <Approval call={call} conversation={client.conversation(call.conversationId)} />
      </section>
    ));
  }
  showPart(<Nested />);
  return renders;
}

export function nestedTests(): void {
  describe('calls of sub-agents', () => {
    it(
      'are listed with their paths, and answered in their own conversations',
      promise('G393'),
      async () => {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
        const api = apiWith();
        let listed: readonly object[] = [WAITS_BELOW];
        api.instead = ({ method, path }) => {
          if (path.includes('/pending?nested=true')) return json({ pending: listed, seq: 9 });
          return method === 'POST' ? accepted() : undefined;
        };
        const renders = showNested(clientOf(api));
        await expect.poll(() => api.streams.length).toBeGreaterThan(0);
        // Nothing is asked while no sub-agent is at work.
        expect(api.sent('GET', '/pending')).toEqual([]);
        api.log(SUB_AGENT);
        const call = page.getByRole('region', { name: 'research > buy' });
        await expect.element(call.getByText('buyer: waiting_for_you')).toBeVisible();
        for (let read = 0; read < 3; read += 1) await vi.advanceTimersByTimeAsync(PAUSE_MS);
        await expect.poll(() => api.sent('GET', '/pending').length).toBeGreaterThan(2);
        expect(new Set(renders).size).toBe(2);
        await call.getByRole('button', { name: 'Approve' }).click();
        await expect.element(call.getByText('Approved')).toBeVisible();
        expect(api.sent('POST', '/resolution').map(({ path, body }) => [path, body])).toEqual([
          [
            '/v1/conversations/child-2/tool-calls/call-1/resolution',
            expect.objectContaining({
              resolution: { type: 'approve' },
              argsDigest: 'd-1',
            }) as unknown,
          ],
        ]);
        listed = [];
        await vi.advanceTimersByTimeAsync(PAUSE_MS);
        await expect.element(call).not.toBeInTheDocument();
      },
    );

    it('are judged by the messages that are loaded, and begin anew with later ones', {
      ...promise('G393'),
    }, async () => {
      const api = apiWith();
      const forOthers = { ...WAITS_BELOW, audience: { exclude: ['requester'] } };
      let reads = () => Promise.resolve(json({ pending: [forOthers], seq: 9 }));
      api.instead = ({ path }) => (path.includes('/pending?nested=true') ? reads() : undefined);
      showNested(clientOf(api));
      await expect.poll(() => api.streams.length).toBeGreaterThan(0);
      api.log(CALLS_SUB_AGENT, SUB_AGENT);
      const call = page.getByRole('region', { name: 'research > buy' });
      await expect.element(call.getByText('buyer: waiting_for_you')).toBeVisible();
      // The same list is read again, but Ann is one of those who asked.
      api.log(JOINS);
      await expect.element(call.getByText('buyer: waiting_for_others')).toBeVisible();
      let release: (response: Response) => void = () => undefined;
      const held = new Promise<Response>((resolve) => {
        release = resolve;
      });
      reads = () => held;
      api.log(SUB_AGENT_ENDS);
      await expect.element(call).not.toBeInTheDocument();
      const asked = api.sent('GET', '/pending').length;
      api.log(SUB_AGENT);
      await expect.poll(() => api.sent('GET', '/pending').length).toBeGreaterThan(asked);
      expect(call.query()).toBeNull();
      release(json({ pending: [WAITS_BELOW], seq: 12 }));
      await expect.element(call).toBeVisible();
    });
  });
}
