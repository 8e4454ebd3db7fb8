/**
 * What a tool's code is handed when it runs, and the one way to return a failure on purpose. Runs anywhere: only types of
 * the host, no values.
 */

import type { AbortSignalLike } from '../../protocol/model/model.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { BlobType } from '../../protocol/values/blobs.js';
import type { Json } from '../../protocol/values/json.js';
import type { ParsedOf, Schema } from '../schemas/schema.js';
import type { AskSpec, Declined } from './ask.js';

/** The host's own `AbortSignal` where it has one (Node, browsers), so that it can be handed to `fetch` and the like. */
export type ToolSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : AbortSignalLike;

/** The least that a logger must do; pino and console both fit behind it. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The logger of a tool: every line carries conversation, turn and call. */
export interface ToolLogger extends Logger {
  /**
   * Logs an event of the tool in the form that log readers of all tools know: `source` is `<tool>_ExecuteAsync`, `pairs` an array of
   * `{key, value}` texts that begins with `ConversationId`, `SessionId` (the same), `TurnId` and `ToolCallId`; what is not known is ''.
   * Give it ids and words: inputs, results and secrets have no place in logs.
   */
  event(
    level: LogLevel,
    message: string,
    pairs?: Readonly<Record<string, string | number | boolean | null | undefined>>,
  ): void;
}

/** A result that was too large to be shown whole, or a part of it. */
export interface StoredResult {
  /** Of all of it. */
  readonly bytes: number;
  readonly type: BlobType;
  /** UTF-8; a part may begin and end inside a character. */
  readonly content: Uint8Array;
}

/** What this conversation has stored of large results. */
export interface StoredResults {
  /**
   * By the id that stands beside the cut result (`blob.id`). Undefined when this conversation has none of that id.
   * @throws when the store cannot be reached now
   */
  read(
    id: string,
    range?: { readonly offset: number; readonly length: number },
  ): Promise<StoredResult | undefined>;
}

/** What `ctx.services` is where `initColloquy` bound no type: such tools ask for nothing, so any agent may have them. */
export type UntypedServices = unknown;

/** Identity and means of one run of a tool's code. */
export interface CallContext<Services = UntypedServices> {
  readonly agent: string;
  readonly tenant: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** Step of the turn, from 1. */
  readonly step: number;
  readonly toolCallId: string;
  /**
   * Stable over retries, kills and roll-overs, unique per call: hand it on to whatever has the side effect, since a call
   * may be run again after its worker was lost. It is that of the call, the same in every run: a tool that has effects before
   * and after a question tells them apart by a suffix of its own, such as `${ctx.idempotencyKey}/charge`.
   */
  readonly idempotencyKey: string;
  /** Who sent the message that the turn answers. */
  readonly requester: StampedActor;
  /** Who approved the call; absent when it needed no approval. */
  readonly approver?: StampedActor;
  /** From 1; above 1 the call may have taken effect already. */
  readonly attempt: number;
  /** Which entry into the code this is, from 1: a tool that asks is entered again with the answer. */
  readonly run: number;
  /** Questions that this call has asked until now; all of them are settled. */
  readonly asks: number;
  /** As it was given with the last question. */
  readonly state?: Json;
  /** Present when the last question was declined, and had said `onDecline: 'enter'`. */
  readonly declined?: Declined;
  /** Who answered, or declined, the last question. */
  readonly answeredBy?: StampedActor;
  /** Fires when the turn is cancelled, the run's time is over, or the worker stops. */
  readonly signal: ToolSignal;
  /**
   * Shows progress to watchers. May be lost, is never recorded and never completes the call; ignored unless the tool says
   * `streaming: true`. Never throws.
   */
  progress(payload: unknown): void;
  readonly services: Services;
  readonly storedResults: StoredResults;
  readonly logger: ToolLogger;
}

/** What `run` is handed: it alone may ask. */
export interface ToolContext<Services = UntypedServices> extends CallContext<Services> {
  /**
   * Asks somebody in the middle of the work: ends this run by what it throws, which the code must let pass, and parks the call
   * until the answer is there. The tool is then entered again, from its first line, perhaps days later and on another worker,
   * and reads `answerTo(form)` and `state`; so look at those first. Nobody answers in time, or somebody declines: that is the call's result,
   * and the tool is not entered (see `onDecline`). At most 20 questions a call.
   * @throws {TypeError} for a question that cannot be asked; else always, to end the run.
   */
  ask(question: AskSpec): never;
  /**
   * The answer to the last question, parsed by its form as this code has it; undefined in the first run and after a refusal. There is no
   * other way to it: the question may have been asked by the code before a deploy, in another form. An answer that the form refuses is
   * given back to whoever gave it, with the reasons, and the question is open again in this form: this run then ends by what is thrown,
   * which the code must let pass.
   */
  answerTo<Form extends Schema>(form: Form): Promise<ParsedOf<Form> | undefined>;
}

/** A failure that the tool means the model to read, word for word. */
export class ToolError extends Error {
  readonly code = 'tool_error';

  constructor(message: string) {
    super(message);
    this.name = 'ToolError';
  }
}

/**
 * Makes the call's result `{ok: false}` with exactly this text; return it or throw it. Values that merely look like a
 * result envelope are data: only this and thrown errors fail a call.
 */
export function toolError(message: string): ToolError {
  return new ToolError(message);
}

/** True also for instances of another copy of this package. */
export function isToolError(value: unknown): value is ToolError {
  return (
    value instanceof ToolError ||
    (value instanceof Error &&
      value.name === 'ToolError' &&
      'code' in value &&
      value.code === 'tool_error')
  );
}
