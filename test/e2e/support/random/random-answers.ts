/** The possible answers to a waiting call, and the outcome of a reply. */
import type { PendingCall, Resolution } from 'colloquy/client';
import type { ConversationSnapshot } from '../../../../src/protocol/conversation/conversation.js';
import type { Reply } from '../api.js';
import type { Input, Trail } from './trail.js';

/** The outcome in a reply: the verdict, status or code of a message, event, cancel or problem. */
export function saidIn(reply: Readonly<Record<string, unknown>>): Pick<Input, 'said' | 'seq'> {
  const { verdict, status, duplicate, code, seq, first } = reply;
  const word = verdict ?? code ?? (duplicate === true ? 'duplicate' : status);
  const known = typeof first === 'object' && first !== null && 'seq' in first ? first.seq : seq;
  return {
    said: typeof word === 'string' ? word : JSON.stringify(reply),
    ...(typeof known === 'number' ? { seq: known } : {}),
  };
}

/** Answers that fit the kind of the wait; some break a rule of the tool. */
export function fitting(call: PendingCall): readonly Resolution[] {
  switch (call.kind) {
    case 'approval':
      return [
        { type: 'approve' },
        { type: 'approve' },
        { type: 'approve', input: { label: `${labelOf(call)}.edited` } },
        { type: 'approve', input: { label: 7 } },
        { type: 'deny', reason: 'no' },
      ];
    case 'elicitation':
      return [
        finalOf(call),
        { type: 'answer', value: { answer: '123' } },
        { type: 'answer', value: { answer: 7 } },
        { type: 'decline' },
      ];
    case 'client_execution':
    case 'external_execution':
      return [finalOf(call), { type: 'result', value: 7 }, { type: 'error', message: 'no' }];
    case 'outcome':
      return [finalOf(call), { type: 'outcome', error: 'it failed' }];
  }
}

/** An answer that is certain to end the wait. */
export function finalOf(call: PendingCall): Resolution {
  switch (call.kind) {
    case 'approval':
      return { type: 'approve' };
    case 'elicitation':
      return { type: 'answer', value: { answer: 'yes' } };
    case 'client_execution':
    case 'external_execution':
      return { type: 'result', value: { items: [labelOf(call)] } };
    case 'outcome':
      return { type: 'outcome', value: 'it was done' };
  }
}

function labelOf({ prompt }: PendingCall): string {
  return JSON.stringify(prompt);
}

/** Whether no turn runs and no call is pending. */
export function isAtRest({
  status,
  pending,
  queued,
  inFlightTools,
}: ConversationSnapshot): boolean {
  return status === 'idle' && [...pending, ...queued, ...inFlightTools].length === 0;
}

/** The fields that tie an answer to this question and to the claim holder. */
export function meantFor(call: PendingCall | undefined): {
  readonly argsDigest?: string;
  readonly claimId?: string;
} {
  const { ask, argsDigest, claim } = call ?? {};
  return {
    ...(ask === undefined || argsDigest === undefined ? {} : { argsDigest }),
    ...(claim === undefined ? {} : { claimId: claim.claimId }),
  };
}

type Note = Omit<Input, 'said' | 'seq'>;

/** A reply that is lost with its API process has no outcome. */
export async function notingReply(
  trail: Trail,
  note: Note,
  give: () => Promise<Reply>,
): Promise<void> {
  const reply = await give().catch(() => undefined);
  trail.note({ ...note, ...(reply === undefined ? { said: 'no_reply' } : saidIn(reply.body)) });
}

/** Records a refusal by its code. @throws any other error */
export async function noting(
  trail: Trail,
  note: Note,
  give: () => Promise<Pick<Input, 'said' | 'seq'>>,
): Promise<void> {
  try {
    trail.note({ ...note, ...(await give()) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string' || code === 'internal') throw error;
    trail.note({ ...note, said: code });
  }
}
