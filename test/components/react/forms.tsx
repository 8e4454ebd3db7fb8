/** Forms of answers, made from the schemas that the API gives. */
import { useState } from 'react';
import { describe, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { type Entered, formOf, type Json } from '../../../src/browser/index.js';
import { EditForm, Form, type FormProps } from '../../../src/react/index.js';
import { focus, press, type } from '../support/keys.js';
import { accessibilityFaults } from '../support/looks.js';
import { promise } from '../support/promise.js';
import { showPart } from '../support/show.js';
import { answersOf, apiWith, clientOf, QUESTION } from '../support/talk.js';
import { type ReactVersion, showChat } from './chat.js';

/** A field of each kind. */
const EVERY_KIND = formOf({
  ...{ type: 'object', title: 'Delivery', required: ['name', 'size', 'count'] },
  properties: {
    name: { type: 'string', title: 'Name', description: 'As on the label', minLength: 2 },
    mail: { type: 'string', format: 'email' },
    site: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    moment: { type: 'string', format: 'date-time' },
    count: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    price: { type: 'number' },
    gift: { type: 'boolean' },
    size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
    extras: { type: 'array', items: { type: 'string', enum: ['bulb', 'plug', 'shade'] } },
  },
});

const field = (name: string) => page.getByLabelText(name);

function showForm(props: Omit<FormProps, 'onAnswer'>): readonly Json[] {
  const answers: Json[] = [];
  showPart(<Form {...props} onAnswer={(value) => answers.push(value)} />);
  return answers;
}

/** Forms whose values the page keeps, in `kept`. */
function showKept(given: readonly [Entered | undefined, Entered | undefined]) {
  const kept: { current: readonly [unknown, unknown] } = { current: given };
  const form = formOf({ type: 'object', properties: { answer: { type: 'string' } } });
  function Both() {
    const [entered, setEntered] = useState(given);
    kept.current = entered;
    return (
      <>
        <Form
          {...{ form, onAnswer: () => undefined, entered: entered[0] }}
          onEntered={(answer) => setEntered([answer as Entered, entered[1]])}
        />
        <EditForm
          {...{ input: { cents: 7_500 }, onApprove: () => undefined, entered: entered[1] }}
          onEntered={(edit) => setEntered([entered[0], edit])}
        />
        <button type="button" onClick={() => setEntered([undefined, undefined])}>
          Put back
        </button>
      </>
    );
  }
  showPart(<Both />);
  return kept;
}

export function formTests(version: ReactVersion): void {
  describe('a form', () => {
    it('of a question names what is missing, with words of the application', async () => {
      const api = apiWith(QUESTION);
      showChat(version, { client: clientOf(api) });
      const question = page.getByRole('region', { name: 'Question: customer.ask' });
      await expect.element(question.getByText('Which?')).toBeVisible();
      await question.getByRole('button', { name: 'Answer' }).click();
      await expect.element(question.getByText('answer is required')).toBeVisible();
      await expect.element(question.getByLabelText('answer')).toHaveFocus();
      await type('Blue');
      await press('Enter');
      expect(answersOf(api)).toEqual([]);
      expect(await accessibilityFaults()).toEqual([]);
      const decline = question.getByRole('button', { name: 'I would rather not say' });
      await expect.element(decline).toBeVisible();
      await press('Control+Enter');
      await expect.poll(() => answersOf(api).length).toBe(1);
      expect(answersOf(api)).toEqual([{ type: 'answer', value: { answer: 'Blue' } }]);
    });

    it('shows the values that the application keeps, also where it has put them back', async () => {
      const kept = showKept([{ answer: 'Blue' }, { cents: '900' }]);
      const [answer, cents] = [field('answer'), field('cents')];
      await expect.element(answer).toHaveValue('Blue');
      await expect.element(cents).toHaveValue('900');
      await answer.fill('Red');
      await cents.fill('800');
      expect(kept.current).toEqual([{ answer: 'Red' }, { cents: '800' }]);
      await expect.element(answer).toHaveValue('Red');
      await expect.element(cents).toHaveValue('800');
      await page.getByRole('button', { name: 'Put back' }).click();
      await expect.element(answer).toHaveValue('');
      await expect.element(cents).toHaveValue('7500');
    });

    it('has a field of each kind, and gives values of their types', promise('G410'), async () => {
      const answers = showForm({ form: EVERY_KIND });
      expect(await accessibilityFaults()).toEqual([]);
      await expect.element(field('Name')).toHaveAccessibleDescription(/^As on the label/);
      await expect.element(field('count')).toHaveValue('3');
      await field('Name').fill('Ann');
      await field('mail').fill('ann@example.org');
      await field('site').fill('https://example.org/');
      await field('day').fill('2030-01-31');
      await field('moment').fill('2030-01-31T10:00');
      await field('count').fill('4');
      await field('price').fill('2.5');
      await field('gift').click();
      await expect.element(field('gift')).toBeChecked();
      await field('size').selectOptions('Large');
      await field('extras').selectOptions(['bulb', 'shade']);
      await press('Control+Enter');
      expect(answers).toEqual([
        {
          ...{ name: 'Ann', mail: 'ann@example.org', site: 'https://example.org/' },
          ...{ day: '2030-01-31', moment: new Date('2030-01-31T10:00').toISOString() },
          ...{ count: 4, price: 2.5, gift: true, size: 'l', extras: ['bulb', 'shade'] },
        },
      ]);
    });

    it('shows its defaults, and sends what it shows', promise('G410'), async () => {
      const form = formOf({
        type: 'object',
        required: ['moment'],
        properties: {
          moment: { type: 'string', format: 'date-time', default: '2030-01-31T10:00:00Z' },
          day: { type: 'string', format: 'date', default: '2030-01-31' },
          price: { type: 'number', default: 2.5 },
          gift: { type: 'boolean', default: true },
          size: { type: 'integer', enum: [1, 2], default: 2 },
          extras: {
            ...{ type: 'array', items: { type: 'string', enum: ['bulb', 'plug'] } },
            default: ['plug'],
          },
          // No input shows these.
          note: { type: 'string', default: null },
          more: { type: 'array', items: { type: 'string', enum: ['bulb'] }, default: 'bulb' },
        },
      });
      const answers = showForm({ form });
      const moment = new Date('2030-01-31T10:00:00Z');
      const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
      await expect.element(field('moment')).toHaveValue(local.toISOString().slice(0, 16));
      await expect.element(field('day')).toHaveValue('2030-01-31');
      await expect.element(field('price')).toHaveValue('2.5');
      await expect.element(field('gift')).toBeChecked();
      await expect.element(field('size')).toHaveValue('2');
      await expect.element(field('extras')).toHaveValue(['plug']);
      await expect.element(field('note')).toHaveValue('');
      await page.getByRole('button', { name: 'Answer' }).click();
      expect(answers).toEqual([
        {
          ...{ moment: moment.toISOString(), day: '2030-01-31', price: 2.5, gift: true },
          ...{ size: 2, extras: ['plug'] },
        },
      ]);
    });

    it(
      'names each error at its field, goes to the first, and sends nothing',
      promise('G410'),
      async () => {
        const answers = showForm({ form: EVERY_KIND });
        const wrong = { Name: 'A', mail: 'ann', site: 'here', count: '9.5', price: 'dear' };
        for (const [name, text] of Object.entries(wrong)) await field(name).fill(text);
        await page.getByRole('button', { name: 'Answer' }).click();
        const errors = {
          Name: 'Name must have at least 2 characters',
          mail: 'mail must be an e-mail address',
          site: 'site must be an address such as https://…',
          count: 'count must be a whole number',
          price: 'price must be a number',
          size: 'size is required',
        };
        for (const [name, error] of Object.entries(errors)) {
          await expect.element(field(name)).toHaveAttribute('aria-invalid', 'true');
          await expect
            .element(field(name))
            .toHaveAccessibleDescription(new RegExp(`${error.replaceAll('.', '\\.')}$`));
        }
        await expect.element(field('gift')).toHaveAttribute('aria-invalid', 'false');
        await expect.element(field('Name')).toHaveFocus();
        expect(await accessibilityFaults()).toEqual([]);
        expect(answers).toEqual([]);
        // The errors are those of the last try: an edit takes them away.
        await field('Name').fill('Ann');
        await expect.element(page.getByText('size is required')).not.toBeInTheDocument();
      },
    );

    it('shows the problems that the API found, and sends nothing while an answer is on its way', {
      ...promise('G410'),
    }, async () => {
      const answers = showForm({
        ...{ form: EVERY_KIND, isBusy: true },
        errors: { count: 'is more than we have', '': 'the address is unknown' },
      });
      await expect
        .element(field('count'))
        .toHaveAccessibleDescription(/count is more than we have$/);
      await expect.element(page.getByText('the address is unknown')).toBeVisible();
      await expect.element(page.getByRole('button', { name: 'Answer' })).toBeDisabled();
      await field('Name').fill('Ann');
      await field('size').selectOptions('Small');
      await press('Control+Enter');
      expect(answers).toEqual([]);
    });

    it('without a flat schema takes JSON, beside the schema', promise('G410'), async () => {
      const answers = showForm({
        form: formOf({ type: 'object', properties: { a: { $ref: '#' } } }),
      });
      const answer = field('Answer as JSON');
      await answer.fill('{"a": ');
      await press('Control+Enter');
      await expect.element(page.getByText('is not JSON')).toBeVisible();
      expect(answers).toEqual([]);
      await answer.fill('{"a": {}}');
      focus(answer);
      await press('Control+Enter');
      expect(answers).toEqual([{ a: {} }]);
      expect(await accessibilityFaults()).toEqual([]);
    });
  });
}
