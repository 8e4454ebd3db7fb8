/** Why an update was not answered in time: its workflow fails, or no worker polls. */
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { QueuedReason, Trouble } from '../../protocol/values/trouble.js';

export interface Unanswered {
  readonly reason: QueuedReason;
  /** One or two sentences for people, with the next command. */
  readonly text: string;
}

/** A workflow that fails needs another deploy, or a repair; one more worker of the same code would fail, too. */
export function failingText(
  { conversationId }: ConversationKey,
  { attempts, since, error }: Trouble,
): string {
  const what = error === undefined ? '' : `: ${error}`;
  return `The workflow of conversation "${conversationId}" has failed ${attempts} times since ${since}${what}. Messages and answers are kept until its code works again. Next: npx colloquy doctor`;
}
