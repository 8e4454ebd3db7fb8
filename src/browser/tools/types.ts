/** Functions of a page that run calls of client tools. */
import type { Json } from '../../protocol/values/json.js';

/**
 * Runs a call. `input` is what the call asks for, checked by the tool's `input` schema; the value, as JSON, is checked
 * by its `output` schema. A thrown error becomes the call's error, with its message: the model reads it.
 */
export type ClientTool = (input: never, context: ClientToolContext) => unknown;

export interface ClientToolContext {
  readonly conversationId: string;
  readonly toolCallId: string;
  readonly name: string;
  /**
   * Aborts when the call is over without this function: it was answered elsewhere, cancelled, has expired, or the claim
   * is lost. Nothing that the function returns then is sent.
   */
  readonly signal: AbortSignal;
  /** Shows progress, where the tool declares it (`streaming`). May be lost; never rejects. */
  readonly progress: (payload: Json) => Promise<void>;
}

export type ClientTools = Readonly<Record<string, ClientTool>>;

export interface ToolSettings {
  /** Milliseconds that a claim lasts without a renewal; it is renewed three times as often. @defaultValue 30,000 */
  readonly leaseMs?: number;
  /** Milliseconds that a call waits for its function to be registered. @defaultValue 5,000 */
  readonly graceMs?: number;
}
