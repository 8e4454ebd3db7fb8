/** Answers that no worker has judged yet: they may be given again, and show the refusal that comes later. */
import { describe, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import type { PendingView, Verdict } from '../../../src/browser/index.js';
import { useAnswer } from '../../../src/react/index.js';
import { json } from '../../support/pages/scripted-fetch.js';
import { promise } from '../support/promise.js';
import { showPart } from '../support/show.js';
import { answersOf, apiWith, clientOf, QUESTION } from '../support/talk.js';
import { type ReactVersion, showChat } from './chat.js';

const ANN = { id: 'ann', verified: true, channel: 'api' } as const;
const KEPT = 'No worker is up; your answer is kept';
const BEHIND = 'The one before it is judged first.';
const WAITS: PendingView = {
  ...{ ref: 'r', toolCallId: 'call-1', turnId: 't1', name: 'cart.read', executor: 'client' },
  ...{ kind: 'approval', prompt: {}, argsDigest: 'd-1', state: 'waiting_for_you' },
  ...{ openedAt: '2030-01-01T00:00:00.000Z', deadline: '2030-01-02T00:00:00.000Z' },
};

/** A button that approves each wait of the call. */
function Own({ call, verdict }: { readonly call: PendingView; readonly verdict: Verdict }) {
  const conversation = { resolve: async () => verdict };
  const { isBusy, send } = useAnswer({ call, conversation });
  return (
    <button type="button" disabled={isBusy} onClick={() => send({ type: 'approve' })}>
      Approve it
    </button>
  );
}

export function queuedTests(version: ReactVersion): void {
  /** Sends the first answer, which no worker takes. */
  const queued = async () => {
    const api = apiWith(QUESTION);
    api.instead = ({ method, body }) =>
      method === 'POST'
        ? json({ ...body, verdict: 'queued', reason: 'no_worker' }, { status: 202 })
        : undefined;
    showChat(version, { client: clientOf(api) });
    const question = page.getByRole('region', { name: 'Question: customer.ask' });
    const field = question.getByLabelText('answer');
    await field.fill('Blue');
    const button = question.getByRole('button', { name: 'Answer' });
    await button.click();
    await expect.element(question.getByText(KEPT)).toBeVisible();
    await expect.poll(() => api.streams.length).toBeGreaterThan(0);
    const ids = () => api.sent('POST', '/resolution').map(({ body }) => body['requestId']);
    return { api, question, field, button, ids };
  };

  describe('an answer that no worker has judged yet', () => {
    it('may be sent again, and is the same request', promise('G393'), async () => {
      const { api, question, field, button, ids } = await queued();
      await expect.element(button).toBeEnabled();
      await button.click();
      await expect.poll(() => answersOf(api).length).toBe(2);
      await expect.element(button).toBeEnabled();
      const status = question.getByRole('status');
      await expect.element(status).toHaveTextContent(KEPT);
      await expect.element(status).not.toHaveTextContent(BEHIND);
      await field.fill('Red');
      await button.click();
      await expect.poll(() => answersOf(api).length).toBe(3);
      await expect.element(status).toHaveTextContent(`${KEPT}. ${BEHIND}`);
      const [first, second, third] = ids();
      expect(second).toBe(first);
      expect(third).not.toBe(first);
    });

    it('says that a worker has refused it, and waits for another one', {
      ...promise('G393'),
    }, async () => {
      const { api, question, field, button, ids } = await queued();
      const [requestId] = ids();
      const problems = [{ path: '/resolution/value/answer', message: 'is no colour of ours' }];
      const refused = { toolCallId: 'call-2', verdict: 'invalid', actor: ANN } as const;
      const detail = JSON.stringify({ verdict: 'invalid', problems });
      const other = JSON.stringify({ verdict: 'forbidden', reason: 'of another request' });
      api.log(
        { type: 'resolution_refused', ...refused, requestId: String(requestId), detail },
        { type: 'resolution_refused', ...refused, requestId: 'other', detail: other },
      );
      await expect
        .element(question.getByRole('status'))
        .toMatchTextContent(/^Not taken: .*is no colour of ours$/);
      await expect.element(field).toHaveAccessibleDescription(/is no colour of ours$/);
      await expect.element(button).toBeEnabled();
      await button.click();
      await expect.element(question.getByText(KEPT)).toBeVisible();
      expect(new Set(ids()).size).toBe(2);
    });

    it.each([
      { what: 'another kind of wait', kind: 'client_execution' },
      { what: 'a later wait', openedAt: '2030-01-01T00:05:00.000Z' },
    ] as const)(
      'is of one wait of its call: $what takes another',
      async ({ what: _what, ...change }) => {
        const verdict: Verdict = { verdict: 'accepted', toolCallId: 'call-1', seq: 9 };
        const button = page.getByRole('button', { name: 'Approve it' });
        showPart(<Own call={WAITS} verdict={verdict} />);
        await button.click();
        await expect.element(button).toBeDisabled();
        showPart(<Own call={{ ...WAITS, ...change }} verdict={verdict} />);
        await expect.element(button).toBeEnabled();
      },
    );
  });
}
