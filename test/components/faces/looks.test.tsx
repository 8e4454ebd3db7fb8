/** The parts of colloquy/react in the styles of the web page: accessible in each look, in each of their states. */
import { beforeAll, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { formOf } from '../../../src/browser/index.js';
import { Approval, Form, useConversation, usePending } from '../../../src/react/index.js';
import styles from '../../../web/style.css?url';
import { LOOKS } from '../../support/pages/look-list.js';
import { expectAccessible, look, withStyles } from '../support/looks.js';
import { showPart } from '../support/show.js';
import { apiWith, approvalOf, clientOf, REFUND } from '../support/talk.js';

beforeAll(async () => await withStyles(styles));

const FORM = formOf({
  ...{ type: 'object', required: ['name', 'size'] },
  properties: {
    name: { type: 'string', description: 'As on the label' },
    size: { type: 'string', enum: ['s', 'l'] },
    extras: { type: 'array', items: { type: 'string', enum: ['bulb', 'shade'] } },
    gift: { type: 'boolean' },
    moment: { type: 'string', format: 'date-time' },
  },
});

const client = clientOf(apiWith(REFUND));

function Parts() {
  const used = useConversation(client, 'c1');
  return (
    <div className="inbox">
      {usePending(used).map((call) => (
        <Approval key={call.ref} {...{ call, conversation: used.conversation }} />
      ))}
      <Form form={FORM} onAnswer={() => undefined} onDecline={() => undefined} />
    </div>
  );
}

it.each(LOOKS)(
  'are accessible, $colorScheme and $width pixels wide, enlarged $zoom times',
  async (options) => {
    await look(options);
    const { colorScheme, width, zoom } = options;
    expect(matchMedia(`(prefers-color-scheme: ${colorScheme})`).matches).toBe(true);
    expect([innerWidth, devicePixelRatio]).toEqual([width / zoom, zoom]);
    showPart(<Parts />);
    const approval = approvalOf('payments.refund');
    await expect.element(approval).toBeVisible();
    await expectAccessible('waits');
    const filled = (name: string) =>
      getComputedStyle(approval.getByRole('button', { name }).element()).backgroundColor;
    expect(filled('Approve')).not.toBe(filled('Deny …'));
    expect(filled('Edit …')).toBe(filled('Deny …'));
    await approval.getByRole('button', { name: 'Deny …' }).click();
    await expectAccessible('deny');
    await approval.getByRole('button', { name: 'Edit …' }).click();
    await approval.getByLabelText('cents').fill('nine');
    await expectAccessible('edit with an error');
    await approval.getByLabelText('cents').fill('900');
    await expectAccessible('edit');
    await page.getByRole('button', { name: 'Answer' }).click();
    await expect.element(page.getByText('name is required')).toBeVisible();
    await expectAccessible('form with errors');
  },
);
