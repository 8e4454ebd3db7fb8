/** A developer acts in the studio: answers in place of others, tries a failed turn again, exports a conversation. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { expectAccessible } from '../../support/pages/looks.js';
import { atCursor, openStudio, unfold } from '../../support/pages/studio.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it('answers a question by its form, and gives the result of a call that a page would run', async () => {
  world.model.answer('Ask and look', ({ results }) =>
    results.length > 0
      ? { text: 'Done.' }
      : {
          text: 'A moment.',
          calls: [
            { name: 'customer.ask', input: { question: 'Which order?' } },
            { name: 'cart.read', input: {} },
          ],
        },
  );
  const talk = world.talk('acts-1');
  await talk.begin('support', 'Ask and look');
  await talk.waitingCalls(2);
  const page = await openStudio(browser, world.apiUrl, {
    path: '/acts-1',
    // The browser logs the answer that is refused.
    expected: /status of 422/,
  });
  const question = page.getByRole('region', { name: 'Question: customer.ask' });
  await question.getByRole('button', { name: 'Answer' }).click();
  await question.getByText('answer is required').waitFor();
  await question.getByLabel('answer').fill('42');
  await question.getByRole('button', { name: 'Answer' }).click();
  const byHand = page.getByRole('region', { name: 'Result of cart.read' });
  const give = byHand.getByRole('button', { name: 'Give the result' });
  await byHand.getByLabel('Result as JSON').fill('{"items":3}');
  await give.click();
  await byHand.getByText(/^Not taken: .*items/).waitFor();
  await byHand.getByLabel('Result as JSON').fill('{"items":["lamp"]}');
  await give.click();
  await atCursor(page, /turn ended/);
  const decided = await talk.eventsOf('resolution');
  expect(decided.map(({ resolution }) => resolution)).toEqual([
    { type: 'answer', value: { answer: '42' } },
    { type: 'result', value: { items: ['lamp'] } },
  ]);
});

it('tries a failed turn again in a fork from before it, and the failed turn stays', async () => {
  let isDown = true;
  world.model.answer('Greet me', () =>
    isDown ? { failure: { status: 400, message: 'unknown model' } } : { text: 'Hello.' },
  );
  world.model.answer('Begin', () => ({ text: 'Here I am.' }));
  const talk = world.talk('acts-2');
  await talk.begin('support', 'Begin');
  await talk.ended();
  await talk.call('/messages', { body: { text: 'Greet me' } });
  await talk.ended(2);
  isDown = false;
  const page = await openStudio(browser, world.apiUrl, { path: '/acts-2' });
  const failed = page.getByRole('region', { name: 'Failed turn' });
  await failed.getByRole('button', { name: 'Try it again' }).click();
  await failed.getByText('The turn runs again, in a fork.').waitFor();
  await failed.getByRole('link').click();
  await atCursor(page, /turn ended, turn 2 of 2/);
  await page.getByText('Hello.').first().waitFor();
  expect(await failed.count()).toBe(0);
  const ends = await talk.eventsOf('turn_ended');
  expect(ends.map(({ status }) => status)).toEqual(['completed', 'failed']);
});

it('says of a conversation that cannot be exported as a test which event is the reason', async () => {
  world.model.answer('Count slowly', () => ({ text: 'one two '.repeat(20), chunkDelayMs: 100 }));
  const talk = world.talk('acts-3');
  await talk.begin('support', 'Count slowly');
  await talk.call('/messages', { body: { text: 'Faster', onBusy: 'steer' } });
  await talk.ended();
  const joined = (await talk.eventsOf('user_message')).at(-1);
  const page = await openStudio(browser, world.apiUrl, {
    path: '/acts-3',
    expected: /status of 422/,
  });
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page
    .getByText(`cannot be exported as a test: event ${String(joined?.seq)} came during work`)
    .waitFor();
});

it('lists the what-ifs of a conversation, and cancels one that runs, with its verdict in words', async () => {
  // The answer of the turn, that of the first what-if, and one that takes longer than the test.
  world.model.answer('Name a colour', (_, ask) =>
    ask < 3 ? { text: 'Blue.' } : { text: 'a b c d e f g h', chunkDelayMs: 10_000 },
  );
  const talk = world.talk('acts-4');
  await talk.begin('support', 'Name a colour');
  await talk.ended();
  const page = await openStudio(browser, world.apiUrl, { path: '/acts-4' });
  await unfold(page, /^What if: /);
  const instructions = page.getByLabel('Instructions in place of');
  const play = page.getByRole('button', { name: 'Play the turn again' });
  await instructions.fill('Be brief.');
  await play.click();
  await page.getByText('Ended after one step.').waitFor();
  await instructions.fill('Be kind.');
  await play.click();
  await unfold(page, /^What-ifs of this conversation/);
  const rows = page.getByRole('list', { name: 'What-ifs' }).locator(':scope > li');
  await rows.nth(1).waitFor();
  expect(await rows.nth(1).innerText()).toMatch(/^Turn 1, support, .*: Ended after one step\./);
  await rows.nth(0).getByText('Asks the model …').waitFor();
  await rows.nth(0).getByRole('button', { name: 'Cancel the what-if' }).click();
  await rows.nth(0).getByText('Its model call is being stopped.').waitFor();
  await rows.nth(0).getByText('Cancelled before its first step ended.').waitFor();
  expect(await rows.getByRole('button', { name: 'Cancel the what-if' }).count()).toBe(0);
  await rows.nth(1).locator('summary').click();
  await rows.nth(1).getByText('as recorded').waitFor();
  await expectAccessible(page, 'what-ifs');
});
