/**
 * Shared by all handlers: their dependencies, and how they refuse. A refusal is a failure of the validator, so it
 * leaves no history.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../core/judge/messages.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import type { EventLogOfRun } from '../log/event-log.js';

export interface HandlerOptions {
  readonly machine: ConversationMachine;
  readonly log: EventLogOfRun;
  /** Called when an input may have changed the state. */
  readonly wake: () => void;
  readonly requestRollOver: () => void;
  /** Takes one part of a recovery. */
  readonly recover: (input: unknown) => void;
  readonly countSignal: () => void;
  readonly countUpdate: () => void;
}

export function refuse(code: FailureCode, message: string, detail: unknown): never {
  throw ApplicationFailure.create({ type: code, message, nonRetryable: true, details: [detail] });
}

export function throwRefusal(
  refusal: Omit<Refusal, 'reply'> & { readonly reply?: unknown },
): never {
  const { code, message, problems, reply } = refusal;
  return refuse(
    code,
    message,
    reply ?? { message, ...(problems === undefined ? {} : { problems }) },
  );
}
