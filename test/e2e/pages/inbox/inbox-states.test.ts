/** The states of the inbox: accessible in each, hostile texts are text, and a refused token loses nothing. */
import { type Child, startChild } from 'colloquy/dev';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ofEach, useBrowser } from '../../../support/browser/browser.js';
import { LOOKS } from '../../../support/pages/look-list.js';
import { patient } from '../../../support/patience.js';
import { freePort } from '../../../support/servers/dev-server.js';
import {
  answered,
  beginCall,
  beginRefund,
  openCall,
  openInbox,
  row,
} from '../../support/pages/inbox.js';
import { expectAccessible } from '../../support/pages/looks.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await beginRefund(world, 'state-1');
  await beginRefund(world, 'state-2');
  await beginCall(world, 'state-3', {
    ...{ name: 'customer.ask', input: { question: 'Which size?' } },
  });
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it.each(LOOKS)(
  'is accessible, $colorScheme and $width pixels wide, enlarged $zoom times',
  async (options) => {
    const signIn = await browser.open(`${world.apiUrl}/ui/inbox`, options);
    await signIn.getByLabel('Token').waitFor();
    await expectAccessible(signIn, 'sign in');
    const page = await openInbox(browser, world.apiUrl, options);
    await row(page, 'state-1').waitFor();
    await expectAccessible(page, 'list');
    const detail = await openCall(page, 'state-1');
    await detail.getByRole('button', { name: 'Deny …' }).click();
    await expectAccessible(page, 'deny');
    await detail.getByLabel('Remember the decision').selectOption('turn');
    await expectAccessible(page, 'remember');
    await detail.getByRole('button', { name: 'Edit …' }).click();
    await detail.getByLabel('cents').fill('1');
    await expectAccessible(page, 'edit');
    await detail.getByLabel('paymentId').fill('');
    await detail.getByText('is required').waitFor();
    await expectAccessible(page, 'edit with an error');
    await page.getByRole('checkbox', { name: 'Select payments.refund' }).first().check();
    await expectAccessible(page, 'selected');
    await page.getByRole('button', { name: 'Deny them …' }).click();
    await page.getByRole('dialog', { name: 'Deny' }).waitFor();
    await expectAccessible(page, 'deny many');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: 'Select payments.refund' }).first().uncheck();
    await page.getByRole('button', { name: 'Commands' }).click();
    await expectAccessible(page, 'commands');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const form = await openCall(page, 'state-3');
    await form.getByRole('button', { name: 'Answer' }).click();
    await form.getByText('answer is required').waitFor();
    await expectAccessible(page, 'form with an error');
    await openCall(page, 'state-2');
    await page.getByRole('button', { name: 'Approve' }).click();
    await answered(page, /Will be sent/);
    await expectAccessible(page, 'held');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Keys' }).click();
    await expectAccessible(page, 'help');
  },
);

const ATTACKS = [
  '<img src=x onerror="alert(1)">',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  '<style>body { display: none }</style>',
  '[link](javascript:alert(1)) <http://other.invalid>',
  '\u202Etxt.exe\u202D \u2066 \u200F',
] as const;

describe('markup', () => {
  it('in arguments and in texts of the model is shown as it was written', async () => {
    const input = { paymentId: ATTACKS.join('\n'), cents: 1 };
    const text = ATTACKS.join(' ');
    await beginCall(world, 'hostile-1', { name: 'payments.refund', input, text });
    const page = await openInbox(browser, world.apiUrl);
    const detail = await openCall(page, 'hostile-1');
    await detail.locator('.said.model p.text').waitFor();
    const shown = await ofEach<string>(
      page,
      '.detail :is(.text, .colloquy-text)',
      'element.textContent',
    );
    expect(shown).toContain(input.paymentId);
    expect(shown).toContain(text);
    // The header has the links to the other pages, and the detail one to the conversation: no text makes another.
    const all = '#root :not(.top, .top *)';
    const names = await ofEach<readonly string[]>(page, all, 'element.getAttributeNames()');
    expect(names.flat().filter((name) => /^(on|href|src)/.test(name))).toEqual(['href']);
    const tags = await ofEach<string>(page, all, 'element.tagName');
    expect(tags.filter((tag) => /^(script|style|svg|img|a|iframe)$/i.test(tag))).toEqual(['A']);
    const link = page.locator('.detail header a');
    expect(await link.getAttribute('href')).toBe('/ui/conversations/hostile-1');
  });
});

it(
  'a token that is refused brings the sign-in back; what was typed stays, and answers go on',
  async () => {
    const port = await freePort();
    const start = async (secret: string): Promise<Child> => {
      const env = { ...world.env, COLLOQUY_DEV_SECRET: secret };
      const child = await startChild({ name: 'api', args: ['serve', '--port', String(port)], env });
      onTestFinished(() => child.stop());
      return child;
    };
    const { talk } = await beginRefund(world, 'token-1');
    const { COLLOQUY_DEV_SECRET: secret = '' } = world.env;
    const api = await start(secret);
    const expected = /ERR_|status of 401/;
    const page = await openInbox(browser, `http://127.0.0.1:${port}`, { expected });
    await openCall(page, 'state-1');
    await page.keyboard.press('d');
    await page.keyboard.type('half a reas');
    await api.stop();
    await start('another-secret-of-the-tests');
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    await expectAccessible(page, 'sign in again');
    await dialog.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText('does not know this token').waitFor();
    await dialog.getByLabel('Token').fill('another-secret-of-the-tests');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Reason').inputValue()).toBe('half a reas');
    await openCall(page, 'token-1');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await answered(page, /Approved/);
    await talk.ended();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
  },
  patient(180_000),
);
