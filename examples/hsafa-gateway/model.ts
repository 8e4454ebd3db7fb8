/** A model that needs no key: it enters the space of the message, asks a backend and a member, and writes. */
import { calls, says, scriptedBy } from 'colloquy/testing';

export const clerk = scriptedBy(({ messages }) => {
  const said = JSON.stringify(messages).replaceAll('\\', '');
  const hasCalled = (tool: string): boolean => said.includes(`"${tool}"`);
  if (!hasCalled('enter_space'))
    return calls('enter_space', { spaceId: /space (\S+) waits/.exec(said)?.[1] ?? '' });
  if (!hasCalled('stockLevel')) return calls('stockLevel', { item: 'red shoe' });
  if (!hasCalled('confirmOrder')) return calls('confirmOrder', { item: 'red shoe', pieces: 2 });
  if (!hasCalled('send_message'))
    return calls('send_message', { text: 'Two red shoes are on their way.' });
  return says('Done.');
});
