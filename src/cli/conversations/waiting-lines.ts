/** The lines for a waiting call: the call, who may answer it, and the command that answers it. */
import {
  labelText,
  type SampleAnswer,
  sampleAnswer,
  whoMayAnswer,
  whyTakenBack,
} from '../../core/view/sample-answer.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { shownJson, shownText } from '../../protocol/workflow/shown-text.js';

const MAX_INPUT_CHARS = 2_000;
const MAX_REASON_CHARS = 500;
const INDENT = ' '.repeat(10);

export interface WaitingCall {
  readonly snapshot: Pick<ConversationSnapshot, 'conversationId'>;
  readonly call: PendingCall;
  /** Ids of the users who requested the call. */
  readonly requesters: readonly string[];
}

/** How a person answers a call. */
export interface ByHand {
  /** The command for a POSIX shell; undefined where none can give this answer. */
  readonly commandFor: (waiting: WaitingCall, answer: SampleAnswer) => string | undefined;
  /** The line in place of a command. */
  readonly withoutCommand: string;
}

/**
 * The last line is the command, if there is one. Foreign text cannot move the cursor, nor change a word of the command.
 */
export function waitingLines(byHand: ByHand, waiting: WaitingCall): readonly string[] {
  const { snapshot, call, requesters } = waiting;
  const { kind, name, deadline, reason, prompt } = call;
  const why = reason === undefined ? '' : ` (${shownText(reason, MAX_REASON_CHARS)})`;
  const sample = sampleAnswer(call, requesters);
  const command = sample && byHand.commandFor(waiting, sample.answer);
  return [
    `waits     ${snapshot.conversationId}: ${kind} of ${shownText(name)}${labelText(call)}${why} until ${deadline}`,
    `${INDENT}arguments: ${shownJson(prompt, MAX_INPUT_CHARS)}`,
    ...(call.audience === undefined && call.claim === undefined
      ? []
      : [`${INDENT}who may answer: ${whoMayAnswer(call)}`]),
    ...whyTakenBack(call).map((line) => `${INDENT}${line}`),
    ...(sample?.hint === undefined || command === undefined ? [] : [`${INDENT}${sample.hint}`]),
    `${INDENT}${command ?? byHand.withoutCommand}`,
  ];
}
