/**
 * Log entries of tools in one form: exceptions under a tag of the tool, events with a source and an array of key/value
 * pairs. Only ids and words: inputs and results are never logged automatically. Runs in the worker.
 */
import type { Logger, LogLevel, ToolLogger } from '../../define/tool/context.js';
import { isToolRetry } from '../../define/tool/retry.js';
import { toJson } from './normalise.js';

/** The call of an entry; an id that is not known yet is an empty text. */
export interface LoggedCall {
  readonly conversationId?: string | undefined;
  readonly turnId?: string | undefined;
  readonly toolCallId?: string | undefined;
}

/** One field of an event. An array of them keeps order and repeats, which an object does not. */
interface Pair {
  readonly key: string;
  readonly value: string;
}

/** The part of a tool where something happened. */
export type ToolPhase = 'run' | 'preflight' | 'reconcile' | 'approval' | 'toolPolicy';

/** A logger that adds the same fields to every line. */
export function withFields(logger: Logger, fields: Readonly<Record<string, unknown>>): Logger {
  return {
    debug: (message, more) => {
      logger.debug(message, { ...fields, ...more });
    },
    info: (message, more) => {
      logger.info(message, { ...fields, ...more });
    },
    warn: (message, more) => {
      logger.warn(message, { ...fields, ...more });
    },
    error: (message, more) => {
      logger.error(message, { ...fields, ...more });
    },
  };
}

/** The given logger with `event` in addition. */
export function toolLogger(logger: Logger, name: string, call: LoggedCall): ToolLogger {
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    event: (level, message, fields = {}) => {
      const own = Object.entries(fields).map(([key, value]) => pair(key, value));
      write(logger, level, { message, source: sourceOf(name), pairs: [...pairsOf(call), ...own] });
    },
  };
}

/** Logs an exception of a tool's code. A retry that the tool requested is not a fault, so it is only a warning. */
export function logException(
  at: { readonly logger: Logger; readonly name: string; readonly phase: ToolPhase },
  call: LoggedCall,
  error: unknown,
): void {
  const { logger, name, phase } = at;
  write(logger, isToolRetry(error) ? 'warn' : 'error', {
    message: `[${sourceOf(name)}__Exception]`,
    source: sourceOf(name),
    pairs: [...pairsOf(call), pair('Phase', phase)],
    error: describeError(error),
  });
}

function sourceOf(name: string): string {
  return `${name}_ExecuteAsync`;
}

/** Other systems call a conversation a session: both keys have its id. */
function pairsOf({ conversationId, turnId, toolCallId }: LoggedCall): readonly Pair[] {
  return [
    pair('ConversationId', conversationId),
    pair('SessionId', conversationId),
    pair('TurnId', turnId),
    pair('ToolCallId', toolCallId),
  ];
}

function pair(key: string, value: string | number | boolean | null | undefined): Pair {
  return { key, value: String(value ?? '') };
}

function write(
  logger: Logger,
  level: LogLevel,
  { message, ...fields }: { readonly message: string; readonly [field: string]: unknown },
): void {
  logger[level](message, fields);
}

/** Describes an error for logs, which stay with the operator. */
function describeError(error: unknown): string {
  if (error instanceof Error) return error.stack ?? error.message;
  if (typeof error === 'string') return error;
  try {
    return JSON.stringify(toJson(error));
  } catch {
    return 'an unknown error';
  }
}
