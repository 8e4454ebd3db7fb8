/** The parts of a conversation on which a test may assert. Reads only the log and the snapshot. */

import type { ToolResultEnvelope } from '../protocol/calls/results.js';
import type { ConversationSnapshot } from '../protocol/conversation/conversation.js';
import type { CanonicalEvent, EventType } from '../protocol/log/events.js';
import type { Json } from '../protocol/values/json.js';
import { type SeenCall, seenCalls } from './seen-calls.js';

/** `Call`: type of the pending calls. */
export abstract class SeenConversation<Call> {
  /** The waiting calls, typed by the agent's tools, because no other call can exist. */
  get pending(): readonly Call[] {
    const { pending }: { readonly pending: readonly unknown[] } = this.snapshot;
    return pending as readonly Call[];
  }

  abstract get snapshot(): ConversationSnapshot;

  /** Text of the newest assistant message; empty before the first. */
  get text(): string {
    return this.eventsOf('turn_ended').at(-1)?.text ?? '';
  }

  /** The newest turn's answer in the requested schema; undefined where none was requested. */
  get output(): Json | undefined {
    return this.eventsOf('turn_ended').at(-1)?.output;
  }

  /** The log. */
  abstract get events(): readonly CanonicalEvent[];

  /** The types of the log's events: the first thing to assert on. */
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

  /** The calls that the model made, of one tool or of all, in order, with their results. */
  calls(name?: string): readonly SeenCall[] {
    const all = seenCalls(this.events);
    return name === undefined ? all : all.filter((call) => call.name === name);
  }

  /** The result of a call as the model got it, by the call's id or by the name of its tool (the newest). */
  result(target: string): ToolResultEnvelope | undefined {
    return this.eventsOf('tool_result').findLast(
      (event) => event.toolCallId === target || event.name === target,
    )?.result.envelope;
  }

  /** The last line of most tests: checks that no call waits and no turn runs. @throws naming those that do */
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
