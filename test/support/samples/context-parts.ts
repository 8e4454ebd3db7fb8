/** Transcripts as model calls get them, and the parts of a context. */
import type { ContextParts } from '../../../src/core/context/assemble.js';
import type { ContextMark } from '../../../src/protocol/conversation/context.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';

/** One token for each byte of the JSON: easy to foresee. */
export const byteTokens = (message: Message): number => JSON.stringify(message).length;

export interface TurnShape {
  /** Characters of the user's message. */
  readonly says?: number;
  /** For each step: the tool that is called, and the characters of its result. */
  readonly steps?: readonly (readonly [tool: string, chars: number])[];
  /** No last answer yet. */
  readonly open?: boolean;
}

/** Turns `t1`, `t2` and so on, whose calls are `t1.1`, `t1.2` and so on. */
export function transcript(shapes: readonly TurnShape[]): readonly Message[] {
  return shapes.flatMap((shape, index) => turnOf(`t${index + 1}`, shape));
}

function turnOf(turnId: string, { says = 5, steps = [], open = false }: TurnShape): Message[] {
  const text = (chars: number): [{ type: 'text'; text: string }] => [
    { type: 'text', text: 'x'.repeat(chars) },
  ];
  const messages: Message[] = [{ role: 'user', id: `${turnId}.u`, turnId, parts: text(says) }];
  for (const [index, [name, chars]] of steps.entries()) {
    const step = index + 1;
    const toolCallId = `${turnId}.${step}`;
    messages.push({
      role: 'assistant',
      id: `${turnId}.${step}.a`,
      turnId,
      step,
      parts: [{ type: 'tool_call', toolCallId, name, argumentsJson: '{}' }],
    });
    messages.push({
      role: 'tool',
      id: `${turnId}.${step}.results`,
      turnId,
      step,
      parts: [
        {
          type: 'tool_result',
          toolCallId,
          name,
          envelope: { ok: true, result: 'y'.repeat(chars) },
        },
      ],
    });
  }
  const step = steps.length + 1;
  if (!open)
    messages.push({ role: 'assistant', id: `${turnId}.${step}.a`, turnId, step, parts: text(5) });
  return messages;
}

export function contextParts(
  messages: readonly Message[],
  over: Partial<ContextParts> & { readonly budget?: number } = {},
): ContextParts {
  const { budget = 1_000_000, ...rest } = over;
  return {
    messages,
    policy: { budget, retentionOf: () => ({ turns: 6 }) },
    countTokens: byteTokens,
    fixedTokens: 0,
    ...rest,
  };
}

/** The usage that the next call gets from one whose provider counted as the engine did. */
export function markOf(context: ContextMark | { readonly tokens: number }): ContextMark {
  return { ...context, inputTokens: context.tokens };
}

export function bytesOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + byteTokens(message), 0);
}
