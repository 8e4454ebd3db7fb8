/**
 * What a tool's code is handed when it runs, and the one way to return a failure on purpose. Runs anywhere: only types of
 * the host, no values.
 */
import type { StampedActor } from '../protocol/actors.js';
import type { AbortSignalLike } from '../protocol/model.js';

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

/** What `ctx.services` is where `initColloquy` bound no type: such tools ask for nothing, so any agent may have them. */
export type UntypedServices = unknown;

/** Identity and means of one run of a tool. */
export interface ToolContext<Services = UntypedServices> {
  readonly agent: string;
  readonly tenant: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** Step of the turn, from 1. */
  readonly step: number;
  readonly toolCallId: string;
  /**
   * Stable over retries, kills and roll-overs, unique per call: hand it on to whatever has the side effect, since a call
   * may be run again after its worker was lost.
   */
  readonly idempotencyKey: string;
  /** Who sent the message that the turn answers. */
  readonly requester: StampedActor;
  /** Who approved the call; absent when it needed no approval. */
  readonly approver?: StampedActor;
  /** From 1; above 1 the call may have taken effect already. */
  readonly attempt: number;
  /** Fires when the turn is cancelled, the run's time is over, or the worker stops. */
  readonly signal: ToolSignal;
  /**
   * Shows progress to watchers. May be lost, is never recorded and never completes the call; ignored unless the tool says
   * `streaming: true`. Never throws.
   */
  progress(payload: unknown): void;
  readonly services: Services;
  readonly logger: ToolLogger;
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
