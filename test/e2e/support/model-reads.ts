/** The messages that the model was sent, compared with the log of the conversation. */
import type { CanonicalEvent } from 'colloquy/client';
import { expect } from 'vitest';
import type { SeenRequest } from '../../../examples/demo/model-server.js';

interface WireMessage {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/**
 * In every request to the model each call is followed by its results, one each, in call order; and the last request
 * holds the same results as the log, including late and detached ones, once.
 */
export function expectModelRead(
  requests: readonly SeenRequest[],
  of: { readonly id: string; readonly finale: string; readonly events: readonly CanonicalEvent[] },
): void {
  const bodies = requests
    .map(({ body }) => (body as { readonly messages?: readonly WireMessage[] }).messages ?? [])
    .filter((messages) =>
      messages.some(({ role, content }) => role === 'user' && mentions(content, of.id)),
    );
  for (const messages of bodies) expectResultsInOrder(messages);
  const last = bodies.findLast((messages) => messages.some(({ content }) => content === of.finale));
  expect(last, 'the model was sent the last message').toBeDefined();
  const lastResults = (last ?? []).filter(({ role }) => role === 'tool');
  const results = new Map(
    of.events.flatMap((event) =>
      event.type === 'tool_result' ? [[event.toolCallId, event.result.envelope]] : [],
    ),
  );
  for (const { tool_call_id: toolCallId = '', content } of lastResults)
    expect(JSON.parse(content ?? ''), toolCallId).toEqual(results.get(toolCallId));
  expect(lastResults.map((message) => message.tool_call_id).toSorted()).toEqual(
    [...results.keys()].toSorted(),
  );
  const texts = (last ?? []).filter(({ role }) => role === 'user').map(({ content }) => content);
  const incoming = of.events.flatMap((event) => {
    if (event.type !== 'inbox_event') return [];
    const { eventId, toolCallId } = event;
    return [toolCallId === undefined ? `(id ${eventId})` : `(call ${toolCallId})`];
  });
  for (const mark of incoming)
    expect(texts.filter((text) => text?.includes(mark) === true).length, mark).toBe(
      incoming.filter((other) => other === mark).length,
    );
}

function expectResultsInOrder(messages: readonly WireMessage[]): void {
  for (const [index, { tool_calls: calls = [] }] of messages.entries()) {
    if (calls.length === 0) continue;
    const after = messages.slice(index + 1);
    const end = after.findIndex(({ role }) => role !== 'tool');
    const results = after.slice(0, end === -1 ? after.length : end);
    expect(results.map((result) => result.tool_call_id)).toEqual(calls.map(({ id }) => id));
  }
}

function mentions(content: string | null | undefined, id: string): boolean {
  return content?.includes(` ${id}.`) === true;
}
