/** Agents for long measurements: one whose turn is a sequence of slow calls, and one that answers at once. */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgent, defineTool, type Model } from 'colloquy';
import type { ModelRequest } from 'colloquy/model';
import { z } from 'zod';

/** The first message of a slow turn, as JSON. */
export interface SlowOrder {
  readonly calls: number;
  readonly seconds: number;
}

const LEDGER = process.env['BENCH_LEDGER'] ?? '';

const slow = defineTool({
  name: 'slow',
  description: 'Works for the requested time, and records each start and end.',
  input: z.object({ seconds: z.number().positive() }),
  output: z.object({ seconds: z.number() }),
  effects: 'once',
  timeouts: { run: '15 minutes' },
  run: async ({ seconds }, { toolCallId, signal }) => {
    note('began', toolCallId);
    await sleep(seconds * 1_000, undefined, { signal });
    note('ended', toolCallId);
    return { seconds };
  },
});

function note(what: 'began' | 'ended', toolCallId: string): void {
  appendFileSync(LEDGER, `${JSON.stringify({ what, toolCallId, pid: process.pid })}\n`);
}

/** Calls the slow tool as often as the message of the turn says, with one call in each step. */
const slowModel: Model = {
  name: 'scripted',
  generate: (request: ModelRequest) => {
    const asked = request.messages.findLastIndex(({ role }) => role === 'user');
    const [part] = request.messages[asked]?.parts ?? [];
    const order = JSON.parse(part?.type === 'text' ? part.text : '{}') as SlowOrder;
    const done = request.messages.slice(asked).filter(({ role }) => role === 'tool').length;
    const continues = done < order.calls;
    return Promise.resolve({
      parts: continues ? [] : [{ type: 'text', text: `${done} calls are done` }],
      calls: continues
        ? [
            {
              id: `call_${done + 1}`,
              name: 'slow',
              argumentsJson: JSON.stringify({ seconds: order.seconds }),
            },
          ]
        : [],
      finishReason: continues ? 'tool_calls' : 'stop',
      usage: { inputTokens: 1, outputTokens: 1 },
      model: 'scripted',
    });
  },
};

export const slowAgent = defineAgent({
  name: 'bench-slow',
  model: slowModel,
  instructions: 'Follow the instructions.',
  tools: [slow],
});

export const quick = defineAgent({
  name: 'bench-quick',
  model: {
    name: 'scripted',
    generate: () =>
      Promise.resolve({
        parts: [{ type: 'text', text: 'Done.' }],
        calls: [],
        finishReason: 'stop',
        usage: { inputTokens: 1, outputTokens: 1 },
        model: 'scripted',
      }),
  },
  instructions: 'Answer at once.',
});
