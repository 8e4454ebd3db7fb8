/**
 * The context that a tool's code gets when it runs, and the one way to return a failure on purpose. Runs anywhere: only
 * types of the host, no values.
 */

import type { AbortSignalLike } from '../../protocol/model/model.js';
import type { Triggers } from '../../protocol/triggers/triggers.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { BlobType } from '../../protocol/values/blobs.js';
import type { Json } from '../../protocol/values/json.js';
import type { ParsedOf, Schema } from '../schemas/schema.js';
import type { Connection } from '../services/secrets.js';
import type { AskSpec, Declined } from './ask.js';
import type { PortAccess } from './ports.js';
import type { StateAccess } from './state-access.js';

/** The host's own `AbortSignal` where it has one (Node, browsers), so that it can be passed to `fetch` and the like. */
export type ToolSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : AbortSignalLike;

/** The minimal interface of a logger; pino and console both fit it. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Drops every line. */
export const SILENT_LOGGER: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The logger of a tool: every line carries conversation, turn and call. */
export interface ToolLogger extends Logger {
  /**
   * Logs an event of the tool in the form that log readers of all tools share: `source` is `<tool>_ExecuteAsync`,
   * `pairs` an array of `{key, value}` texts that begins with `ConversationId`, `SessionId` (the same), `TurnId` and
   * `ToolCallId`; unknown values are ''. Log ids and words only: inputs, results and secrets do not belong in logs.
   */
  event(
    level: LogLevel,
    message: string,
    pairs?: Readonly<Record<string, string | number | boolean | null | undefined>>,
  ): void;
}

/** A result that was too large to be shown whole, or a part of it. */
export interface StoredResult {
  /** Bytes of the whole result. */
  readonly bytes: number;
  readonly type: BlobType;
  /** UTF-8; a part may begin and end inside a character. */
  readonly content: Uint8Array;
}

/** The large results that this conversation has stored. */
export interface StoredResults {
  /**
   * Reads a result by the id beside its cut form (`blob.id`). Undefined when this conversation has none of that id.
   * @throws when the store cannot be reached
   */
  read(
    id: string,
    range?: { readonly offset: number; readonly length: number },
  ): Promise<StoredResult | undefined>;
}

/** Type of `ctx.services` where `initColloquy` bound none: such tools need no services, so any agent may have them. */
export type UntypedServices = unknown;

/** Identity and dependencies of one run of a tool's code. */
export interface CallContext<Services = UntypedServices> extends StateAccess, PortAccess {
  readonly agent: string;
  readonly tenant: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** Step of the turn, from 1. */
  readonly step: number;
  readonly toolCallId: string;
  /**
   * Stable over retries, kills and roll-overs, unique per call. Pass it on to the service that has the side effect,
   * since a call may run again after its worker was lost. The key is the same in every run of the call: a tool that has
   * effects before and after a question distinguishes them by a suffix, such as `${ctx.idempotencyKey}/charge`.
   */
  readonly idempotencyKey: string;
  /** The actor who sent the message that the turn answers. */
  readonly requester: StampedActor;
  /** The actor who approved the call; absent when it needed no approval. */
  readonly approver?: StampedActor;
  /** From 1; above 1 the call may have taken effect already. */
  readonly attempt: number;
  /** Number of this entry into the code, from 1: a tool that asks is entered again with the answer. */
  readonly run: number;
  /** Number of questions that this call has asked until now; all of them are settled. */
  readonly asks: number;
  /** The state given with the last question. */
  readonly state?: Json;
  /** Present when the last question was declined, and had set `onDecline: 'enter'`. */
  readonly declined?: Declined;
  /** The actor who answered, or declined, the last question. */
  readonly answeredBy?: StampedActor;
  /** Fires when the turn is cancelled, the run times out, or the worker stops. */
  readonly signal: ToolSignal;
  /**
   * Shows progress to watchers. May be lost, is never recorded and never completes the call; ignored unless the tool
   * declares `streaming: true`. Never throws.
   */
  progress(payload: unknown): void;
  readonly services: Services;
  /**
   * Finds a secret of the tenant, or of the requester, by the worker's `secrets`. `[redacted]` replaces its value in
   * everything that the call leaves: results, errors, progress, states, log lines. At least 4 characters.
   * @throws when there is none; a `ToolRetry` when it cannot be looked up now
   */
  secret(name: string): Promise<string>;
  /** The connection of the tenant, or of the requester: opened for the first call, then shared. @throws the error of `open` */
  connection<Opened>(connection: Connection<Opened>): Promise<Opened>;
  readonly storedResults: StoredResults;
  /**
   * The triggers of the conversation. One that the call makes without an id gets one of the call's key, so that a repeated
   * run makes no second trigger.
   */
  readonly triggers: Triggers;
  readonly logger: ToolLogger;
}

/** The context of `run`, the only code that may ask. */
export interface ToolContext<Services = UntypedServices> extends CallContext<Services> {
  /**
   * Asks a question during the run. Ends this run by throwing, which the code must not catch, and parks the call until
   * the answer arrives. The tool is then entered again from its first line, perhaps days later and on another worker,
   * and reads `answerTo(form)` and `state`; so the code should check those first. When the time runs out, or the
   * question is declined, that is the call's result, and the tool is not entered (see `onDecline`). At most 20
   * questions a call.
   * @throws {TypeError} for an invalid question; else always, to end the run.
   */
  ask(question: AskSpec): never;
  /**
   * The answer to the last question, parsed by `form`; undefined in the first run and after a refusal. The only way to
   * read the answer, since the code before a deploy may have asked the question in another form. An answer that the
   * form refuses is returned to its sender with the reasons, and the question is open again in this form: this run then
   * ends by throwing, which the code must not catch.
   */
  answerTo<Form extends Schema>(form: Form): Promise<ParsedOf<Form> | undefined>;
}

/** A failure whose message the model reads word for word. */
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
