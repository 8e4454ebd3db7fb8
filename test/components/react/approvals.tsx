/** Decisions on calls by the parts of colloquy/react. */
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { json, problem } from '../../support/pages/scripted-fetch.js';
import { focus, press, type } from '../support/keys.js';
import { accessibilityFaults } from '../support/looks.js';
import { promise } from '../support/promise.js';
import { accepted, answersOf, apiWith, approvalOf, clientOf, REFUND } from '../support/talk.js';
import { type ReactVersion, showChat } from './chat.js';

const HOUR_MS = 3_600_000;

/** Refusals of the API, and how they are said. */
const REFUSALS = [
  {
    body: { verdict: 'forbidden', reason: 'not your call' },
    status: 403,
    words: /^You may not answer this call: not your call$/,
  },
  {
    body: { verdict: 'stale', why: 'decided', status: 'denied', by: 'lena' },
    status: 409,
    words: /^Decided by lena: denied$/,
  },
  {
    body: { verdict: 'expired', deadline: new Date(Date.now() - 77.5 * HOUR_MS).toISOString() },
    status: 410,
    words: /^Too late: the deadline passed 3 d 5 h ago$/,
  },
  {
    body: { verdict: 'unknown', what: 'call' },
    status: 404,
    words: /^The call is gone$/,
  },
];

export function approvalTests(version: ReactVersion): void {
  const opened = (...calls: readonly EventBody[]) => {
    const api = apiWith(...calls);
    showChat(version, { client: clientOf(api) });
    return { api, approval: approvalOf('payments.refund') };
  };

  describe('an approval', () => {
    it('is decided by Space or a click, never by Enter', promise('G393'), async () => {
      const { api, approval } = opened(REFUND);
      await expect.element(approval.getByText('Refund 75.00 € of p_1?')).toBeVisible();
      expect(await accessibilityFaults()).toEqual([]);
      const approve = approval.getByRole('button', { name: 'Approve' });
      focus(approve);
      await press('Enter');
      await approval.getByRole('button', { name: 'Deny …' }).click();
      await type('no');
      await press('Enter', 'Escape');
      expect(answersOf(api)).toEqual([]);
      focus(approve);
      await press('Space');
      await expect.element(approval.getByText('Approved')).toBeVisible();
      await expect.element(approve).toBeDisabled();
      expect(api.sent('POST', '/resolution').map(({ body }) => body)).toMatchObject([
        { resolution: { type: 'approve' }, argsDigest: 'd-1' },
      ]);
    });

    it(
      'is denied with a reason, edited in a form, and says each verdict in words',
      promise('G393'),
      async () => {
        const { api, approval } = opened(REFUND);
        api.instead = ({ method }) =>
          method === 'POST'
            ? json({ verdict: 'forbidden', reason: 'not your call' }, { status: 403 })
            : undefined;
        await approval.getByRole('button', { name: 'Deny …' }).click();
        await type('too much');
        await press('Control+Enter');
        const forbidden = 'You may not answer this call: not your call';
        await expect.element(approval.getByText(forbidden)).toBeVisible();
        api.instead = ({ method }) =>
          method === 'POST' ? problem(422, 'invalid_body') : undefined;
        await approval.getByRole('button', { name: 'Edit …' }).click();
        await approval.getByLabelText('cents').fill('nine');
        await expect.element(approval.getByText('cents is not JSON')).toBeVisible();
        expect(await accessibilityFaults()).toEqual([]);
        await approval.getByLabelText('cents').fill('900');
        await press('Control+Enter');
        await expect.element(approval.getByText('Not sent: invalid_body it is')).toBeVisible();
        expect(answersOf(api)).toEqual([
          { type: 'deny', reason: 'too much' },
          { type: 'approve', input: { paymentId: 'p_1', cents: 900 } },
        ]);
        // The answer without a verdict is repeated as the same request.
        await press('Control+Enter');
        await expect.poll(() => answersOf(api).length).toBe(3);
        const ids = api.sent('POST', '/resolution').map(({ body }) => body['requestId']);
        expect(ids).toEqual([expect.any(String), ids[2], expect.any(String)]);
        expect(ids[0]).not.toBe(ids[1]);
      },
    );

    it.each(REFUSALS)(
      'says the refusal $body.verdict in words',
      promise('G393'),
      async ({ body, status, words }) => {
        const { api, approval } = opened(REFUND);
        api.instead = ({ method }) => (method === 'POST' ? json(body, { status }) : undefined);
        const approve = approval.getByRole('button', { name: 'Approve' });
        await approve.click();
        await expect.element(approval.getByRole('status')).toMatchTextContent(words);
        // Nothing counts yet, so the person may answer again.
        await expect.element(approve).toBeEnabled();
      },
    );

    it('is sent once, however often its button or key is pressed', promise('G393'), async () => {
      const { api, approval } = opened(REFUND);
      let answer: (response: Response) => void = () => undefined;
      api.instead = ({ method }) =>
        method === 'POST'
          ? new Promise((resolve) => {
              answer = resolve;
            })
          : undefined;
      await approval.getByRole('button', { name: 'Deny …' }).click();
      await type('no');
      await press('Control+Enter', 'Control+Enter');
      await expect.element(approval.getByText('Sent; no answer yet.')).toBeVisible();
      const deny = approval.getByRole('button', { name: 'Deny', exact: true });
      const approve = approval.getByRole('button', { name: 'Approve' });
      for (const button of [deny, approve]) await expect.element(button).toBeDisabled();
      answer(accepted());
      await expect.element(approval.getByText('Denied')).toBeVisible();
      await press('Control+Enter');
      for (const button of [deny, approve]) await expect.element(button).toBeDisabled();
      expect(answersOf(api)).toEqual([{ type: 'deny', reason: 'no' }]);
    });

    it(
      'keeps the reason that was typed when Escape closes its field',
      promise('G393'),
      async () => {
        const { api, approval } = opened(REFUND);
        const deny = approval.getByRole('button', { name: 'Deny …' });
        await deny.click();
        await type('half a reas');
        await press('Escape');
        await expect.element(approval.getByLabelText(/^Reason/)).not.toBeInTheDocument();
        await deny.click();
        await expect.element(approval.getByLabelText(/^Reason/)).toHaveValue('half a reas');
        // Enter ends what an input method composes; it is no key of the page.
        const composed = { key: 'Enter', ctrlKey: true, isComposing: true, bubbles: true };
        focus(approval.getByLabelText(/^Reason/));
        document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', composed));
        await press('End');
        await type('on');
        await press('Control+Enter');
        await expect
          .poll(() => answersOf(api))
          .toEqual([{ type: 'deny', reason: 'half a reason' }]);
      },
    );

    it('shows each change of its arguments beside what was there, and sends nothing without one', {
      ...promise('G393'),
    }, async () => {
      const { api, approval } = opened(REFUND);
      await approval.getByRole('button', { name: 'Edit …' }).click();
      const changes = approval.getByRole('region', { name: 'Changes' });
      await expect.element(changes).toHaveTextContent('No change yet');
      await press('Control+Enter');
      const send = approval.getByRole('button', { name: 'Approve with these changes' });
      await expect.element(send).toBeDisabled();
      await approval.getByLabelText('cents').fill('900');
      await expect.element(changes).toHaveTextContent('Changescentsbefore: 7500 → after: 900');
      // The arguments as they were cannot be approved meanwhile.
      await expect
        .element(approval.getByRole('button', { name: 'Approve', exact: true }))
        .toBeDisabled();
      await approval.getByRole('button', { name: 'Undo all changes' }).click();
      await expect.element(approval.getByLabelText('cents')).toHaveValue('7500');
      await expect.element(send).toBeDisabled();
      expect(answersOf(api)).toEqual([]);
    });

    it('shows the problems of refused arguments at their fields', promise('G393'), async () => {
      const { api, approval } = opened(REFUND);
      const problems = [{ path: '/resolution/input/cents', message: 'is more than was paid' }];
      api.instead = ({ method }) =>
        method === 'POST' ? json({ verdict: 'invalid', problems }, { status: 422 }) : undefined;
      await approval.getByRole('button', { name: 'Edit …' }).click();
      const cents = approval.getByLabelText('cents');
      await cents.fill('9000');
      await press('Control+Enter');
      await expect.element(cents).toHaveAccessibleDescription(/cents is more than was paid/);
      await expect.element(cents).toHaveAttribute('aria-invalid', 'true');
    });
  });
}
