/** The states of the chat: accessible in each, and texts of models are text, wherever they come from. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ofEach, useBrowser } from '../../../support/browser/browser.js';
import { LOOKS } from '../../../support/pages/look-list.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { answers, openChat, say } from '../../support/pages/chat.js';
import { beginCall } from '../../support/pages/inbox.js';
import { expectAccessible } from '../../support/pages/looks.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

const MARKDOWN = `# A heading

Text with **weight**, \`code\`, a [link](https://docs.example/page) and <b>no markup</b>.

1. one
2. two

> quoted

| a | b |
|---|---|
| 1 | 2 |

\`\`\`
let code = 'in a block';
\`\`\`
`;

const ATTACKS = [
  '<img src=x onerror="alert(1)">',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  '<style>body { display: none }</style>',
  '<a href="javascript:alert(1)">[link](javascript:alert(1))</a>',
  '[link](javascript:alert(1)) ![picture](http://other.invalid/x.png) <http://other.invalid>',
  '[link](data:text/html,x) [same](/ui/inbox)',
  '\u202Etxt.exe\u202D \u2066 \u200F',
];

beforeAll(async () => {
  world = await startWorld();
  world.model.answer('Show all', () => ({
    text: MARKDOWN,
    calls: [
      { name: 'payments.refund', input: { paymentId: 'p_state', cents: 1 } },
      { name: 'customer.ask', input: { question: 'Which size?' } },
    ],
  }));
  const talk = world.talk('states');
  await talk.begin('support', 'Show all');
  await talk.waitingCalls(2);
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it.each(LOOKS)(
  'is accessible, $colorScheme and $width pixels wide, enlarged $zoom times',
  async (options) => {
    const page = await openChat(browser, world.apiUrl, { path: 'support/states', ...options });
    const approval = page.getByRole('region', { name: 'Approval: payments.refund' });
    await approval.waitFor();
    await expectAccessible(page, 'waits');
    await approval.getByRole('button', { name: 'Deny …' }).click();
    await expectAccessible(page, 'deny');
    await approval.getByRole('button', { name: 'Edit …' }).click();
    await approval.getByLabel('cents').fill('0');
    await approval.getByText('must be at least 1').waitFor();
    await expectAccessible(page, 'edit with an error');
    const question = page.getByRole('region', { name: 'Question: customer.ask' });
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.getByText('answer is required').waitFor();
    await expectAccessible(page, 'answer with an error');
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByText('New conversation').waitFor();
    await expectAccessible(page, 'new conversation');
    const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') };
    await page.getByLabel('Files').setInputFiles([note, { ...note, buffer: Buffer.alloc(0) }]);
    await page.getByText('the file is empty').waitFor();
    await expectAccessible(page, 'files');
    await page.goto(`${world.apiUrl}/ui/chat`);
    await page.getByRole('link', { name: 'support' }).waitFor();
    await expectAccessible(page, 'agents');
  },
);

it('shows hostile texts of a model, a person and a tool as text', promise('G390'), async () => {
  const text = ATTACKS.join('\n\n');
  const input = { paymentId: text, cents: 1 };
  await beginCall(world, 'attacks', { name: 'payments.refund', input, text });
  const page = await openChat(browser, world.apiUrl, { path: 'support/attacks' });
  await page.getByRole('region', { name: 'Approval: payments.refund' }).waitFor();
  await say(page, text.replaceAll('\n', ' '));
  await page.locator('.of-user.queued').waitFor();
  const names = await ofEach<readonly string[]>(page, '.messages *', 'element.getAttributeNames()');
  expect(names.flat().filter((name) => /^(on|src|style$|srcdoc)/.test(name))).toEqual([]);
  const links = await ofEach<string>(page, '.messages a', 'element.href + " " + element.rel');
  expect([...new Set(links)]).toEqual([
    'http://other.invalid/x.png noopener noreferrer nofollow',
    'http://other.invalid/ noopener noreferrer nofollow',
  ]);
  const inside = await ofEach<string>(page, '.messages *', 'element.tagName');
  const odd = ['IMG', 'SCRIPT', 'svg', 'STYLE', 'IFRAME', 'OBJECT'];
  expect(inside.filter((tagName) => odd.includes(tagName))).toEqual([]);
  expect(await answers(page).first().textContent()).toContain('<script>alert(1)</script>');
});

it('folds long messages of both, and shows the newest answer whole', async () => {
  const long = Array.from({ length: 900 }, (_, index) => `line ${index}`).join('\n\n');
  world.model.answer(long.replaceAll('\n\n', ' '), () => ({ text: `${long}\n\nThe end.` }));
  world.model.answer('Short, please', () => ({ text: 'Short.' }));
  const page = await openChat(browser, world.apiUrl);
  await say(page, long.replaceAll('\n\n', ' '));
  await answers(page).getByText('The end.').waitFor();
  const mine = page.locator('.of-user').first();
  expect(await mine.textContent()).not.toContain('line 899');
  await mine.getByRole('button', { name: /^Show all \d+ characters$/ }).click();
  expect(await mine.textContent()).toContain('line 899');
  await say(page, 'Short, please');
  await answers(page).getByText('Short.').waitFor();
  expect(await answers(page).first().textContent()).not.toContain('The end.');
});
