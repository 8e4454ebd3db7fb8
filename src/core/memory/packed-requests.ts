/**
 * Columns of packed rows for ended calls and accepted requests. Ids that are only looked up are kept as fingerprints.
 * Pure.
 */
import { fingerprint } from '../../protocol/values/json.js';
import type { RememberedRequest } from '../state/requests.js';
import type { Row } from './packed-table.js';

/** Columns in the order in which they are written: never change the order, only add at the end. */
export const CALLS = {
  key: 'plain',
  status: 'word',
  name: 'word',
  turnId: 'turn',
  at: 'time',
  by: 'word',
  deadline: 'time',
  /** Code of the error that ended the call. */
  code: 'word',
} as const;
export const REQUESTS = {
  key: 'plain',
  digest: 'plain',
  seq: 'count',
  turnId: 'turn',
  /** For a message that did not begin its turn; the part after the id of the turn, starting with a dot. */
  messageId: 'word',
  ahead: 'count',
  /** Marks a message that joined a turn, and an answer that was accepted late. */
  mark: 'word',
  argsDigest: 'plain',
  claimId: 'word',
  /** End of an extension or of a lease. */
  until: 'time',
  previousDeadline: 'time',
} as const;
export type CallRow = Row<typeof CALLS>;
export type RequestRow = Row<typeof REQUESTS>;

/** The key of a request that is looked up. */
export type SoughtRequest =
  | { readonly operation: 'message' | 'inbox' | 'cancel'; readonly requestId: string }
  | {
      readonly operation: 'resolution' | 'extend' | 'claim';
      readonly requestId: string;
      readonly toolCallId: string;
      /** Actor that made the claim. */
      readonly actor?: string;
    };

const OPERATION_LETTERS: Readonly<Record<RememberedRequest['operation'], string>> = {
  message: 'm',
  resolution: 'r',
  inbox: 'i',
  extend: 'e',
  claim: 'c',
  cancel: 's',
};
const STEERS = 'steers';
const LATE = 'late';
/** Characters of a packed digest: enough to detect a sender's mistake. */
const DIGEST_CHARS = 5;
const SHORT = '~';

/** The digest in the form in which it is remembered after a roll-over. */
function shortDigest(digest: string): string {
  return SHORT + fingerprint(digest).slice(-DIGEST_CHARS);
}

/** Whether a remembered digest is this one; compares the short form where only that was kept. */
export function isSameDigest(known: string, digest: string): boolean {
  return known === (known.startsWith(SHORT) ? shortDigest(digest) : digest);
}

export function callKey(toolCallId: string): string {
  return fingerprint(toolCallId);
}

export function requestKey(sought: SoughtRequest): string {
  const { operation, requestId } = sought;
  const of = 'toolCallId' in sought ? [sought.toolCallId, sought.actor ?? ''] : [];
  return OPERATION_LETTERS[operation] + fingerprint(JSON.stringify([requestId, ...of]));
}

/** The inverse of `requestRow`, for the request that was looked up. */
export function requestOf(row: RequestRow, sought: SoughtRequest): RememberedRequest {
  const { operation, requestId } = sought;
  const { seq = 0, turnId = '', until = '' } = row;
  const digest = SHORT + (row.digest ?? '');
  switch (operation) {
    case 'message': {
      const { messageId: ending = '.user', ahead = 0, mark } = row;
      const messageId = ending.startsWith('.') ? turnId + ending : ending;
      const steers = mark === STEERS ? { steers: true as const } : {};
      return {
        requestId,
        operation,
        digest,
        reply: { turnId, messageId, seq, ahead, ...steers },
      };
    }
    case 'inbox': {
      const reply = { eventId: requestId, seq };
      return { requestId, operation, digest, reply };
    }
    case 'cancel':
      return { requestId, operation, reply: { turnId, seq } };
    case 'resolution': {
      const argsDigest = row.argsDigest === undefined ? {} : { argsDigest: SHORT + row.argsDigest };
      const verdict = row.mark === LATE ? 'accepted_late' : 'accepted';
      const reply = { verdict, toolCallId: sought.toolCallId, seq } as const;
      return { requestId, operation, digest, ...argsDigest, reply };
    }
    case 'extend': {
      const { previousDeadline = '' } = row;
      const { toolCallId } = sought;
      const reply = { verdict: 'accepted', toolCallId, deadline: until, seq } as const;
      return { requestId, operation, previousDeadline, reply };
    }
    case 'claim': {
      const { toolCallId, actor = '' } = sought;
      const { claimId = '' } = row;
      const reply = { verdict: 'accepted', toolCallId, claimId, leaseUntil: until, seq } as const;
      return { requestId, operation, actor, reply };
    }
  }
}

function endingOf(messageId: string, turnId: string): string {
  return messageId.startsWith(`${turnId}.`) ? messageId.slice(turnId.length) : messageId;
}

export function requestRow(request: RememberedRequest): RequestRow {
  const { requestId, operation, reply } = request;
  const digest =
    'digest' in request ? { digest: shortDigest(request.digest).slice(SHORT.length) } : {};
  switch (operation) {
    case 'message': {
      const { turnId, messageId, seq, ahead, steers } = reply;
      return {
        key: requestKey({ operation, requestId }),
        ...digest,
        seq,
        turnId,
        ...(messageId === `${turnId}.user` ? {} : { messageId: endingOf(messageId, turnId) }),
        ...(ahead === 0 ? {} : { ahead }),
        ...(steers === true ? { mark: STEERS } : {}),
      };
    }
    case 'inbox':
      return { key: requestKey({ operation, requestId }), ...digest, seq: reply.seq };
    case 'cancel':
      return { key: requestKey({ operation, requestId }), seq: reply.seq, turnId: reply.turnId };
    case 'resolution': {
      const { argsDigest } = request;
      return {
        key: requestKey({ operation, requestId, toolCallId: reply.toolCallId }),
        ...digest,
        seq: reply.seq,
        ...(reply.verdict === 'accepted_late' ? { mark: LATE } : {}),
        ...(argsDigest === undefined
          ? {}
          : { argsDigest: shortDigest(argsDigest).slice(SHORT.length) }),
      };
    }
    case 'extend':
      return {
        key: requestKey({ operation, requestId, toolCallId: reply.toolCallId }),
        seq: reply.seq,
        until: reply.deadline,
        previousDeadline: request.previousDeadline,
      };
    case 'claim': {
      const { actor } = request;
      return {
        key: requestKey({ operation, requestId, toolCallId: reply.toolCallId, actor }),
        ...(reply.seq === undefined ? {} : { seq: reply.seq }),
        claimId: reply.claimId,
        until: reply.leaseUntil,
      };
    }
  }
}
