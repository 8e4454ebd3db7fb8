/** A conversation as a completion: `approve`, `reject`, and its events in the order of agentic-core's documentation. */
import type { Resolution } from '../protocol/calls/resolutions.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import type { Json } from '../protocol/values/json.js';

export type CompletionOutput =
  | { readonly type: 'text'; readonly content: string }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly function: string;
      readonly result:
        | { readonly type: 'pending'; readonly reason?: string }
        | { readonly type: 'success'; readonly output: Json }
        | { readonly type: 'error'; readonly error: string };
    };

export type CompletionEvent =
  | { readonly type: 'output'; readonly output: CompletionOutput }
  | {
      readonly type: 'approval-requested';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: Json;
      readonly reason?: string;
    }
  | { readonly type: 'completed'; readonly state: 'completed' | 'failed' | 'cancelled' };

/**
 * The events of a log, in its order:
 *
 * | the log | events |
 * |---|---|
 * | an approval is asked for | `output` of the call, pending; `approval-requested` |
 * | a call has a result | `output` of the call, with it |
 * | the model answers with a text | `output` of the text |
 * | the turn ends | `completed` |
 */
export function* completionEvents(log: Iterable<CanonicalEvent>): Generator<CompletionEvent> {
  for (const event of log)
    switch (event.type) {
      case 'suspension': {
        const { kind, toolCallId, name, prompt: input, reason } = event.suspension;
        if (kind !== 'approval') break;
        const why = reason === undefined ? {} : { reason };
        const result = { type: 'pending', ...why } as const;
        yield { type: 'output', output: { type: 'tool', id: toolCallId, function: name, result } };
        yield { type: 'approval-requested', toolCallId, toolName: name, input, ...why };
        break;
      }
      case 'tool_result': {
        const { toolCallId: id, name, result } = event;
        const { envelope } = result;
        yield {
          type: 'output',
          output: {
            ...{ type: 'tool', id, function: name },
            result: envelope.ok
              ? { type: 'success', output: envelope.result }
              : { type: 'error', error: envelope.error.message },
          },
        };
        break;
      }
      case 'assistant_message': {
        const content = event.parts
          .flatMap((part) => (part.type === 'text' ? [part.text] : []))
          .join('');
        if (content !== '') yield { type: 'output', output: { type: 'text', content } };
        break;
      }
      case 'turn_ended':
        yield { type: 'completed', state: event.status };
        break;
      default:
    }
}

export interface Completion<Verdict> {
  /** The tool's `invoke` runs, and the loop continues. Verdicts as of `resolve`; safe to repeat. */
  approve(toolCallId: string): Promise<Verdict>;
  /** An error result with the reason takes the call's place, and the loop continues. */
  reject(toolCallId: string, reason?: string): Promise<Verdict>;
}

/** The decisions about calls of a conversation: of a client's, or any other that resolves calls by id. */
export function completionOf<Verdict>(conversation: {
  resolve(toolCallId: string, resolution: Resolution): Promise<Verdict>;
}): Completion<Verdict> {
  return {
    approve: (toolCallId) => conversation.resolve(toolCallId, { type: 'approve' }),
    reject: (toolCallId, reason) =>
      conversation.resolve(toolCallId, {
        type: 'deny',
        ...(reason === undefined ? {} : { reason }),
      }),
  };
}
