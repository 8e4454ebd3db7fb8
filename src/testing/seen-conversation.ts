/** What a test may look at of its conversation, and assert on. Reads the log and the snapshot, and nothing else. */

import type { ToolResultEnvelope } from '../protocol/calls/results.js';
import type { ConversationSnapshot } from '../protocol/conversation/conversation.js';
import type { CanonicalEvent, EventType } from '../protocol/log/events.js';
import type { Json } from '../protocol/values/json.js';
import { type SeenCall, seenCalls } from './seen-calls.js';

/** `Call`: what its pending calls are known to be. */
export abstract class SeenConversation<Call> {
  /** The calls that wait for somebody, typed by the tools of the agent: there are no others. */
  get pending(): readonly Call[] {
    const { pending }: { readonly pending: readonly unknown[] } = this.snapshot;
    return pending as readonly Call[];
  }

  abstract get snapshot(): ConversationSnapshot;

  /** Text of the newest assistant message; empty before the first. */
  get text(): string {
    return this.eventsOf('turn_ended').at(-1)?.text ?? '';
  }

  /** What the newest turn answered in the form that was asked for; undefined where none was. */
  get output(): Json | undefined {
    return this.eventsOf('turn_ended').at(-1)?.output;
  }

  /** The log. */
  abstract get events(): readonly CanonicalEvent[];

  /** The log, as types: the first thing to assert on. */
  get eventTypes(): readonly EventType[] {
    return this.events.map((event) => event.type);
  }

  /** The events of one type, in order, with its fields. */
  eventsOf<Type extends EventType>(
    type: Type,
  ): readonly Extract<CanonicalEvent, { readonly type: Type }>[] {
    return this.events.filter(
      (event): event is Extract<CanonicalEvent, { readonly type: Type }> => event.type === type,
    );
  }

  /** The calls that the model made, of one tool or of all, in order, and what became of them. */
  calls(name?: string): readonly SeenCall[] {
    const all = seenCalls(this.events);
    return name === undefined ? all : all.filter((call) => call.name === name);
  }

  /** What the model got as the result of a call, by its id or by the name of its tool (the newest). */
  result(target: string): ToolResultEnvelope | undefined {
    return this.eventsOf('tool_result').findLast(
      (event) => event.toolCallId === target || event.name === target,
    )?.result.envelope;
  }

  /** The last line of most tests: nothing was left waiting. @throws naming what is */
  expectNothingOpen(): void {
    const { pending, inFlightTools, turn } = this.snapshot;
    const open = [
      ...pending.map(({ name, kind }) => `${name} waits for ${kind}`),
      ...inFlightTools.map(({ name }) => `${name} is running`),
    ];
    if (open.length > 0) throw new Error(`still open: ${open.join(', ')}`);
    if (turn !== undefined) throw new Error('the turn has not ended');
  }
}
