/** The chat of the web page, in a browser, against Temporal, workers and APIs that run as processes of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { freePort } from '../../../support/servers/dev-server.js';
import { until } from '../../../support/until.js';
import { answers, openChat, say, talkOf } from '../../support/pages/chat.js';
import { AWAY, live } from '../../support/pages/inbox.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

const REFUND = { name: 'payments.refund', input: { paymentId: 'p_chat', cents: 7_500 } };

describe('a person talks with an agent', () => {
  it(
    'by keyboard alone: begins, approves in place, reads the answer',
    promise('G392'),
    async () => {
      world.model.answer('Refund it, please', ({ results }) =>
        results.length > 0
          ? { text: 'All **done**.' }
          : { text: 'I refund it.', calls: [{ ...REFUND, input: { paymentId: 'p_k', cents: 9 } }] },
      );
      const page = await openChat(browser, world.apiUrl);
      const field = page.getByLabel('Message to support');
      await field.focus();
      await page.keyboard.type('Refund it, please');
      await page.keyboard.press('Enter');
      const approval = page.getByRole('region', { name: 'Approval: payments.refund' });
      await approval.getByText('Money leaves the house').waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/ui\/chat\/support\/chat-[0-9a-f]{32}$/);
      const news = await page.locator('.news').textContent();
      expect(news).toMatch(
        /^New approval: payments\.refund, Money leaves the house, until [^.]+\.$/,
      );
      const talk = talkOf(world, page);
      // Backwards from the field of the message, past its neighbours, to the buttons of the call.
      await until('the button of the approval has the focus', async () => {
        await page.keyboard.press('Shift+Tab');
        return await approval.locator('.colloquy-approve:focus').count();
      });
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      expect(await talk.eventsOf('resolution')).toEqual([]);
      await page.keyboard.press('Space');
      await answers(page).getByText('All done.').waitFor();
      await page.getByText(/Decided by you .*: approved/).waitFor();
      await until('the answer is said', async () =>
        (await page.locator('.answer-news').textContent())?.includes('All done.'),
      );
      expect(await talk.eventsOf('resolution')).toMatchObject([
        { resolution: { type: 'approve' } },
      ]);
      const list = page.getByRole('navigation', { name: 'Conversations of support' });
      await list.getByRole('link', { name: 'Refund it, please' }).waitFor();
      await page.getByRole('link', { name: 'New conversation' }).click();
      await until(
        'a conversation without messages',
        async () => (await page.locator('.message').count()) === 0,
      );
      await page.goBack();
      await answers(page).getByText('All done.').waitFor();
    },
  );

  it('of several calls that wait, each has its own part; a message answers none', {
    ...promise('G392'),
  }, async () => {
    const page = await openChat(browser, world.apiUrl);
    await say(page, 'My order never arrived');
    const approval = page.getByRole('region', { name: 'Approval: payments.refund' });
    const question = page.getByRole('region', { name: 'Question: customer.ask' });
    const byHand = page.getByRole('region', { name: 'Result of cart.read' });
    for (const part of [approval, question, byHand]) await part.waitFor();
    await say(page, 'approve');
    await page.locator('.of-user.queued').getByText('waits for the running turn').waitFor();
    const talk = talkOf(world, page);
    expect(await talk.eventsOf('resolution')).toEqual([]);
    await approval.getByRole('button', { name: 'Deny …' }).click();
    await page.keyboard.type('too much');
    await page.keyboard.press('Escape');
    await approval.getByRole('button', { name: 'Deny …' }).click();
    expect(await approval.getByLabel('Reason').inputValue()).toBe('too much');
    await page.keyboard.press('Control+Enter');
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.getByText('answer is required').waitFor();
    await question.getByLabel('answer').fill('42');
    await page.keyboard.press('Control+Enter');
    await byHand.getByRole('button', { name: 'Cannot run' }).click();
    await talk.ended();
    const decided = await talk.eventsOf('resolution');
    expect(decided.map(({ resolution }) => resolution)).toEqual([
      { type: 'deny', reason: 'too much' },
      { type: 'answer', value: { answer: '42' } },
      { type: 'error', message: expect.any(String) as string },
    ]);
    await talk.ended(2);
    await page.locator('.of-user.sent').nth(1).waitFor();
    const said = await page.locator('.of-user .text').allTextContents();
    expect(said).toEqual(['My order never arrived', 'approve']);
  });

  it('edits the arguments of a call in its place', async () => {
    world.model.answer('Refund less', ({ results }) =>
      results.length > 0 ? { text: 'Less it is.' } : { calls: [REFUND] },
    );
    const page = await openChat(browser, world.apiUrl);
    await say(page, 'Refund less');
    const approval = page.getByRole('region', { name: 'Approval: payments.refund' });
    await approval.getByRole('button', { name: 'Edit …' }).click();
    await approval.getByLabel('cents').fill('500');
    await page.keyboard.press('Control+Enter');
    await answers(page).getByText('Less it is.').waitFor();
    const refunds = await world.lines('refunds.jsonl');
    expect(refunds.filter(({ paymentId }) => paymentId === 'p_chat')).toMatchObject([
      { cents: 500 },
    ]);
  });

  it('a message that joins or stops the running turn says so, and Stop ends it', async () => {
    world.model.answer('Count slowly', () => ({ text: 'one two '.repeat(200), chunkDelayMs: 100 }));
    world.model.answer('Stop and greet', () => ({ text: 'Hello.' }));
    const page = await openChat(browser, world.apiUrl);
    await say(page, 'Count slowly');
    await page.locator('.of-agent[aria-busy="true"]').waitFor();
    await page.getByLabel('The message').selectOption('steer');
    await say(page, 'Faster');
    await page.getByText('joined the turn that was running').waitFor();
    await page.getByLabel('The message').selectOption('interrupt');
    await say(page, 'Stop and greet');
    await page.getByText('stopped the turn that was running').waitFor();
    await answers(page).getByText('Hello.').waitFor();
    await say(page, 'Count slowly');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('The turn was stopped').waitFor();
    const turns = await talkOf(world, page).recorded('turn_ended', 3);
    expect(turns.map(({ status }) => status)).toEqual(['cancelled', 'completed', 'cancelled']);
  });

  it('lists a conversation that begins elsewhere, and its state', async () => {
    const page = await openChat(browser, world.apiUrl);
    const list = page.getByRole('navigation', { name: 'Conversations of support' });
    await list.getByRole('link').nth(1).waitFor();
    const talk = world.talk('elsewhere');
    world.model.answer('Refund elsewhere', () => ({ text: 'Yes.', calls: [REFUND] }));
    await talk.begin('support', 'Refund elsewhere');
    const row = list.getByRole('listitem').filter({ hasText: 'Refund elsewhere' });
    await row.getByText('awaiting input, 1 waiting, just now').waitFor();
  });

  it('Enter that ends the text of an input method sends nothing', async () => {
    const page = await openChat(browser, world.apiUrl);
    const field = page.getByLabel('Message to support');
    await field.fill('にほん');
    const press = (isComposing: boolean): Promise<void> =>
      field.dispatchEvent('keydown', {
        key: 'Enter',
        bubbles: true,
        cancelable: true,
        isComposing,
      });
    await press(true);
    expect(await field.inputValue()).toBe('にほん');
    expect(await page.locator('.message').count()).toBe(0);
    await press(false);
    await page.locator('.of-user .text', { hasText: 'にほん' }).waitFor();
  });

  it('sends files with a message, by reference', async () => {
    world.model.answer('Read this', () => ({ text: 'I have read it.' }));
    const page = await openChat(browser, world.apiUrl);
    const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') };
    const empty = { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) };
    await page.getByLabel('Files').setInputFiles([note, empty]);
    await page.getByText('the file is empty').waitFor();
    await page.getByRole('button', { name: 'Remove empty.txt' }).click();
    await until(
      'the file is stored',
      async () => (await page.getByText('is uploaded').count()) === 0,
    );
    await say(page, 'Read this');
    await page.getByText('File: note.txt').waitFor();
    await until('the log has the message', async () => {
      const [message] = await talkOf(world, page).eventsOf('user_message');
      return message?.parts.some(
        (part) => part.type === 'file' && part.filename === 'note.txt' && 'blob' in part.source,
      );
    });
  });
});

describe('the worker and the API are killed while the agent writes', promise('G391'), () => {
  it(
    'the answer is shown whole and once, without a reload',
    async () => {
      const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
      const text = words.join(' ');
      world.model.answer('Tell me a long story', (_request, ask) => ({
        ...{ text, chunkDelayMs: ask === 1 ? 150 : 5 },
      }));
      const port = await freePort();
      const api = await world.startApi(port);
      const page = await openChat(browser, api.url, { expected: AWAY });
      await page.evaluate('globalThis.marked = true');
      await say(page, 'Tell me a long story');
      await answers(page).getByText('word3', { exact: false }).waitFor();
      await world.stack.worker().kill();
      await api.kill();
      await page.getByText('The API does not answer').first().waitFor();
      await say(page, 'And then?');
      await page.locator('.of-user.sending').waitFor();
      await world.startApi(port);
      await world.stack.startWorker();
      await live(page);
      await answers(page).getByText('word59').waitFor();
      const talk = talkOf(world, page);
      await talk.ended(2);
      await page.locator('.of-user.sent').nth(1).waitFor();
      const shown = await answers(page).allTextContents();
      expect(shown.filter((one) => one.includes('word0'))).toEqual([text]);
      expect(await page.locator('.of-user .text').allTextContents()).toEqual([
        ...['Tell me a long story', 'And then?'],
      ]);
      expect(await talk.eventsOf('user_message')).toHaveLength(2);
      expect(await page.evaluate('globalThis.marked')).toBe(true);
    },
    patient(180_000),
  );
});
