/** The newest message that takes the place of a user's. */
import { wholeMessages } from '../../../src/core/state/transcript.js';
import { textOf } from '../../../src/protocol/conversation/messages.js';
import type { MachineUnderTest } from './core-driver.js';

export function messageTextOf(m: Pick<MachineUnderTest, 'state'>): string {
  const message = wholeMessages(m.state.transcript).findLast(({ role }) => role === 'user');
  return message === undefined ? '' : textOf(message.parts);
}
