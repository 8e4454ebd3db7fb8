/** Options and errors of `testConversation`. */
import type { Refusal } from '../../core/judge/judged.js';
import type { SecretResolver } from '../../define/services/secrets.js';
import type { Logger } from '../../define/tool/context.js';
import type { PortValues } from '../../define/tool/ports.js';
import type { OutputGiven } from '../../json-schema/output-format.js';
import type { StatePatch } from '../../protocol/calls/plugin-state.js';
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import type { OnBusy } from '../../protocol/conversation/agents.js';
import type { Model } from '../../protocol/model/model.js';
import type { Actor } from '../../protocol/values/actors.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';

export interface TestConversationOptions<Services> {
  /** Plays the agent's model. @defaultValue the agent's own */
  readonly model?: Model;
  readonly services?: Services;
  /** The secrets by name, or a function that finds them. @defaultValue there are none */
  readonly secrets?: Readonly<Record<string, string>> | SecretResolver;
  /** The values of ports that a worker would have, by their ids. @defaultValue none */
  readonly ports?: PortValues;
  /** Gets the log lines of tools and policies. @defaultValue none does */
  readonly logger?: Logger;
  /**
   * Results by the id of the call, in place of the runs of tools with code in a worker: no such code runs, and a call
   * without one gets an error. Runs that are under way at the same time end in the order of the fields, and before the
   * model is called. @defaultValue the tools run
   */
  readonly recorded?: Readonly<Record<string, RecordedResult>>;
  /** Start of the virtual clock. @defaultValue 2026-01-01T00:00:00Z */
  readonly startAt?: Date;
}

/** The outcome of a tool's run: the result that the model reads, and changes of plugin states. */
export interface RecordedResult {
  readonly envelope: ToolResultEnvelope;
  readonly patches?: readonly StatePatch[];
}

export interface TestSendOptions {
  readonly requestId?: string;
  readonly actor?: Actor;
  readonly onBusy?: OnBusy;
  readonly attachments?: readonly (ImagePart | FilePart)[];
  /** JSON Schema of the turn's final answer. */
  readonly output?: OutputGiven;
}

export interface TestResolveOptions {
  readonly requestId?: string;
  readonly actor?: Actor;
  readonly argsDigest?: string;
  /** Present in a result: the claim under which the call was run. */
  readonly claimId?: string;
  /** @defaultValue the virtual clock's time */
  readonly receivedAt?: Date;
}

export interface TestClaimOptions {
  readonly actor?: Actor;
  /** @defaultValue '5 minutes'; for a renewal the lease before */
  readonly lease?: Duration;
  /** Id of the claim that is renewed. */
  readonly claimId?: string;
  readonly requestId?: string;
}

/** Thrown for a message that the conversation refused; `code` is of the failure table. */
export class MessageRefused extends Error {
  readonly code: string;
  /** The fields that break a rule; empty when there are none. */
  readonly problems: readonly FieldProblem[];
  constructor({ code, message, problems = [] }: Pick<Refusal, 'code' | 'message' | 'problems'>) {
    const faults = problems.map((problem) => `${problem.path} ${problem.message}`).join('; ');
    super(`${code}: ${message}${faults === '' ? '' : ` (${faults})`}`);
    this.name = 'MessageRefused';
    this.code = code;
    this.problems = problems;
  }
}

/** Thrown for a resolution that a test expected to be accepted; `verdict` says why it was not. */
export class ResolutionRefused extends Error {
  readonly verdict: Verdict;
  constructor(target: string, verdict: Verdict) {
    super(`${target} was not resolved: ${JSON.stringify(verdict)}`);
    this.name = 'ResolutionRefused';
    this.verdict = verdict;
  }
}
