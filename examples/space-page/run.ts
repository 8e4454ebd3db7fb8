/** A person and two agents in one space: by the client of the page, or with `--open` in the page itself. */
import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createBrowserClient } from 'colloquy/browser';
import { type BrowserSpace, type SpaceMessage, spaceOf } from 'colloquy/browser/spaces';
import { eventually, runExample } from '../support/run-example.js';
import { analyst, type Refund, support } from './agents.js';
import { openSite, openSpace } from './site.js';

const made: Refund[] = [];
const ledger = { add: (refund: Refund) => void made.push(refund) };

/** The message that shows what is asked for, as soon as there is one. */
async function shown(
  space: BrowserSpace,
  what: string,
  isIt: (message: SpaceMessage) => boolean,
): Promise<SpaceMessage> {
  const look = (): SpaceMessage | undefined => space.getSnapshot().messages.find(isIt);
  return await eventually(what, () => Promise.resolve(look()));
}

/** Does what a person does in the page. */
async function play(space: BrowserSpace, note: (text: string) => void): Promise<void> {
  await space.open();
  const waits = (tool: string) => (message: SpaceMessage) =>
    message.metadata?.['toolName'] === tool && message.status === 'requires_action';
  const says = (beginning: string) => (message: SpaceMessage) => message.text.startsWith(beginning);

  await space.send('Please refund my order');
  const refund = await shown(space, 'the refund waits for an approval', waits('refund'));
  deepEqual(made, []);
  equal((await space.answer(refund.id, { type: 'approve' })).verdict, 'accepted');
  note((await shown(space, 'the refund', says('Order 42 is refunded'))).text);
  equal(made.length, 1);

  await space.send('What is in my cart?');
  const cart = await shown(space, 'the call for the page', waits('cart.read'));
  const value = { items: ['tea'], total: '4.20 EUR' };
  equal((await space.answer(cart.id, { type: 'result', value })).verdict, 'accepted');
  note((await shown(space, 'the cart', says('You have tea'))).text);

  await space.send('Show me the sales');
  note((await shown(space, 'the chart', says('Tuesday'))).text);
  space.stop();
}

const served = { agents: [support, analyst], services: { ledger } };
await runExample(served, async ({ colloquy, idOf, note }) => {
  const token = randomBytes(24).toString('base64url');
  const site = await openSite(colloquy, { port: 0, token });
  try {
    const { address, id } = await openSpace(site.url, token, idOf);
    if (process.argv.includes('--open')) {
      note(`open ${address}; Ctrl-C ends it`);
      await once(process, 'SIGINT');
    } else await play(spaceOf(createBrowserClient({ baseUrl: site.url, token }), id), note);
  } finally {
    await site.close();
  }
});
