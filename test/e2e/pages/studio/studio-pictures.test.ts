/** The pictures of the studio in docs/web.md, taken from the page as it is. COLLOQUY_WRITE_DOCS=1 writes them. */
import { afterAll, beforeAll, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { beginCall } from '../../support/pages/inbox.js';
import { picture } from '../../support/pages/picture.js';
import { atCursor, openStudio } from '../../support/pages/studio.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
  for (const [index, id] of ['order-42', 'order-43'].entries())
    await beginCall(world, id, {
      ...{ name: 'payments.refund', input: { paymentId: `p_${41 + index}`, cents: 7_500 } },
      text: 'The parcel never arrived, so I refund the payment.',
    });
  const { talk, toolCallId } = await beginCall(world, 'order-77', {
    ...{ name: 'customer.ask', input: { question: 'Which size?' }, text: 'I need the size.' },
  });
  await talk.resolve(toolCallId, { type: 'answer', value: { answer: 'Large' } });
  await talk.ended();
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

it('the list, and a conversation', async () => {
  const list = await openStudio(browser, world.apiUrl, { width: 1_000 });
  await list.getByRole('link', { name: 'order-42' }).waitFor();
  await picture(list, 'conversations');
  const page = await openStudio(browser, world.apiUrl, { path: '/order-42', width: 1_000 });
  await atCursor(page, /suspension/);
  await picture(page, 'studio');
});
