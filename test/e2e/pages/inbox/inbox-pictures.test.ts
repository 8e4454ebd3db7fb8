/** The pictures of docs/web.md, taken from the page as it is. COLLOQUY_WRITE_DOCS=1 writes them. */
import { afterAll, beforeAll, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { beginCall, openCall, openInbox, row } from '../../support/pages/inbox.js';
import { picture } from '../../support/pages/picture.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
  const orders = ['order-42', 'order-43', 'order-51'];
  for (const [index, id] of orders.entries())
    await beginCall(world, id, {
      ...{ name: 'payments.refund', input: { paymentId: `p_${41 + index}`, cents: 7_500 - index } },
      text: 'The parcel never arrived, so I refund the payment.',
    });
  await beginCall(world, 'order-77', {
    ...{ name: 'customer.ask', input: { question: 'Which size?' }, text: 'I need the size.' },
  });
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it.each(['light', 'dark'] as const)('the inbox, %s', async (colorScheme) => {
  const page = await openInbox(browser, world.apiUrl, { colorScheme, width: 1_000 });
  const detail = await openCall(page, 'order-42');
  await page.keyboard.press('e');
  await detail.getByLabel('cents').fill('5000');
  await detail.locator('.colloquy-change').waitFor();
  await picture(page, `inbox-${colorScheme}`);
  for (const id of ['order-43', 'order-51', 'order-77'])
    await row(page, id).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Approve them …' }).click();
  await picture(page.getByRole('dialog'), `inbox-many-${colorScheme}`);
});
