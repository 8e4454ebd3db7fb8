/** The states of messages and calls in words, and the sentences for screen readers. Pure. */
import type {
  AssistantMessageView,
  CallView,
  ConversationView,
  EndedTurn,
  NestedPendingView,
  PendingView,
  UserMessageView,
} from 'colloquy/browser';

const CALLS: Readonly<Record<CallView['state'], string>> = {
  writing: 'the agent writes it',
  queued: 'waits for its turn',
  running: 'runs',
  waiting_for_you: 'waits for you',
  waiting_for_others: 'waits for others',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  expired: 'expired',
  cancelled: 'cancelled',
};

export function callWords({ state, detached }: CallView): string {
  return detached === true ? `${CALLS[state]}, in the background` : CALLS[state];
}

const MESSAGES: Readonly<Record<UserMessageView['state'], string>> = {
  sending: 'on its way',
  accepted: 'taken, not in the log yet',
  failed: 'not sent',
  queued: 'waits for the running turn to end',
  sent: '',
};

/** '' for a message without anything to say. */
export function messageWords({ state, onBusy }: UserMessageView): string {
  if (onBusy === 'steer' && state === 'sent') return 'joined the turn that was running';
  if (onBusy === 'interrupt') return 'stopped the turn that was running';
  return MESSAGES[state];
}

export function writerWords({ partial, synthetic, failure }: AssistantMessageView): string {
  if (failure !== undefined) return 'this attempt failed; the agent tries again';
  if (partial === true) return 'stopped here';
  return synthetic === true ? 'written by the engine, not the model' : '';
}

/** The end of the last turn, where it is worth a word. */
export function endWords({ status, reason, error }: EndedTurn): string | undefined {
  if (status === 'completed') return undefined;
  const why = error?.message ?? reason;
  const end = status === 'failed' ? 'The turn failed' : 'The turn was stopped';
  return why === undefined ? `${end}.` : `${end}: ${why}`;
}

/** One sentence on a call that is new; `more`: the number of others that came with it. */
export function newCallSentence(call: PendingView, more: number): string {
  const { kind, title, name, reason, risk, deadline } = call;
  const parts = [
    `New ${kind === 'approval' ? 'approval' : 'question'}: ${plain(title ?? name)}`,
    ...(reason === undefined ? [] : [plain(reason)]),
    ...(risk === undefined ? [] : [`${risk} risk`]),
    `until ${new Date(deadline).toLocaleTimeString()}`,
    ...(more === 0 ? [] : [`and ${more} more`]),
  ];
  return `${parts.join(', ')}.`;
}

/** The sentence on an answer of the agent that is complete. */
export function answerSentence(text: string): string {
  return `The agent says: ${cut(text, 600)}`;
}

/** Without ends of sentences and line breaks, bounded. */
function plain(text: string): string {
  return cut(text.replace(/[.!?]+(?=\s|$)/g, ''), 120);
}

function cut(text: string, chars: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > chars ? `${line.slice(0, chars)}…` : line;
}

/** The tools by which agents were called, from the outermost on. */
export function pathWords(path: NestedPendingView['path']): string {
  return path.map(({ name }) => name).join(' › ');
}

/** Waiting calls that no loaded message has: those of older messages, for instance. */
export function otherPending(view: Pick<ConversationView, 'messages' | 'pending'>) {
  const shown = callsIn(view);
  return view.pending.filter(({ toolCallId }) => !shown.has(toolCallId));
}

/** Waiting calls of sub-agents whose own call no loaded message has. */
export function nestedElsewhere(
  view: Pick<ConversationView, 'messages'>,
  nested: readonly NestedPendingView[],
): readonly NestedPendingView[] {
  const shown = callsIn(view);
  return nested.filter(({ path }) => !shown.has(path[0].toolCallId));
}

function callsIn({
  messages,
}: Pick<ConversationView, 'messages'>): ReadonlySet<string | undefined> {
  return new Set(
    messages.flatMap((message) =>
      message.role === 'assistant' ? message.calls.map(({ toolCallId }) => toolCallId) : [],
    ),
  );
}
