/** The picture of the chat in docs/web.md, taken from the page as it is. COLLOQUY_WRITE_DOCS=1 writes it. */
import { afterAll, beforeAll, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { openChat } from '../../support/pages/chat.js';
import { picture } from '../../support/pages/picture.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;
const MESSAGE = 'The lamp of order 42 arrived broken. Can I have my money back?';

beforeAll(async () => {
  world = await startWorld();
  world.model.answer(MESSAGE, () => ({
    text: 'I am sorry! I will **refund the payment** of order 42. One question before:',
    calls: [
      { name: 'payments.refund', input: { paymentId: 'p_42', cents: 7_500 } },
      { name: 'customer.ask', input: { question: 'Would you like a new lamp instead?' } },
    ],
  }));
  const talk = world.talk('order-42');
  await talk.begin('support', MESSAGE);
  await talk.waitingCalls(2);
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it('the chat, with calls that wait', async () => {
  const page = await openChat(browser, world.apiUrl, { path: 'support/order-42', width: 1_000 });
  await page.getByRole('region', { name: 'Approval: payments.refund' }).waitFor();
  await page.getByRole('region', { name: 'Question: customer.ask' }).waitFor();
  await page.getByLabel('Messages').evaluate('element => { element.scrollTop = 0 }');
  await picture(page, 'chat-light');
});
