/** Shapes of `testConversation`: what it is told, and what it throws. */
import type { Refusal } from '../../core/judge/messages.js';
import type { Duration } from '../../define/checks/durations.js';
import type { Logger } from '../../define/tool/context.js';
import type { OutputGiven } from '../../json-schema/output-format.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { OnBusy } from '../../protocol/conversation/agents.js';
import type { Model } from '../../protocol/model/model.js';
import type { Actor } from '../../protocol/values/actors.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';

export interface TestConversationOptions<Services> {
  /** Plays the agent's model. @defaultValue the agent's own */
  readonly model?: Model;
  readonly services?: Services;
  /** Gets what tools and policies log. @defaultValue nobody does */
  readonly logger?: Logger;
  /** Where the virtual clock begins. @defaultValue 2026-01-01T00:00:00Z */
  readonly startAt?: Date;
}

export interface TestSendOptions {
  readonly requestId?: string;
  readonly actor?: Actor;
  readonly onBusy?: OnBusy;
  readonly attachments?: readonly (ImagePart | FilePart)[];
  /** JSON Schema of what the turn's final answer has to be. */
  readonly output?: OutputGiven;
}

export interface TestResolveOptions {
  readonly requestId?: string;
  readonly actor?: Actor;
  readonly argsDigest?: string;
  /** Of a result: the claim under which the call was run. */
  readonly claimId?: string;
  /** @defaultValue the virtual clock's time */
  readonly receivedAt?: Date;
}

export interface TestClaimOptions {
  readonly actor?: Actor;
  /** @defaultValue '5 minutes'; of a renewal as before */
  readonly lease?: Duration;
  /** Of the claim that is renewed. */
  readonly claimId?: string;
  readonly requestId?: string;
}

/** A message that the conversation refused; `code` is of the failure table. */
export class MessageRefused extends Error {
  readonly code: string;
  /** The fields that break a rule, where there are any. */
  readonly problems: readonly FieldProblem[];
  constructor({ code, message, problems = [] }: Pick<Refusal, 'code' | 'message' | 'problems'>) {
    const faults = problems.map((problem) => `${problem.path} ${problem.message}`).join('; ');
    super(`${code}: ${message}${faults === '' ? '' : ` (${faults})`}`);
    this.name = 'MessageRefused';
    this.code = code;
    this.problems = problems;
  }
}

/** A resolution that a test took for granted was not accepted; `verdict` says why. */
export class ResolutionRefused extends Error {
  readonly verdict: Verdict;
  constructor(target: string, verdict: Verdict) {
    super(`${target} was not resolved: ${JSON.stringify(verdict)}`);
    this.name = 'ResolutionRefused';
    this.verdict = verdict;
  }
}
