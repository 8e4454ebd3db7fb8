/**
 * The agent of a growing conversation: each message states the contents of its turn. Everything is a pure function of
 * the transcript, so every attempt in any process gives the same result.
 */
import { defineAgent, definePlugin, defineTool, type Model } from 'colloquy';
import type { ModelRequest, ModelResponse } from 'colloquy/model';
import { z } from 'zod';
import { GATED_TOOL_NAME } from '../shared/cells.js';
import {
  GROWING_AGENT,
  GROWING_PARTS_AGENT,
  type GrowthOrder,
  LOOKUP_NAMES,
} from '../shared/long-cells.js';
import { wordsOf } from '../shared/words.js';
import { allSlots, counts, hides, KILOBYTE, others, slotOf } from './parts.js';

/** The order in the newest user message, which is followed by as much text as the turn is to hold. */
function orderOf(request: ModelRequest): GrowthOrder {
  const asked = request.messages.findLast(({ role }) => role === 'user');
  const part = asked?.parts[0];
  const [line = '{}'] = part?.type === 'text' ? part.text.split('\n') : [];
  return JSON.parse(line) as GrowthOrder;
}

/** About the size of a summary, which does not depend on the summarised turns. */
const SUMMARY_BYTES = 2_000;

function answer(request: ModelRequest): ModelResponse {
  // Only the agent's own calls have its tools, so this is a summary.
  if (request.tools.length === 0) return summary;
  const { turn, calls, gated, bytes } = orderOf(request);
  const asks = request.messages.at(-1)?.role === 'user';
  const names = Array.from({ length: calls }, (_, index) => LOOKUP_NAMES[index % 2] ?? '');
  const all = gated ? [...names, GATED_TOOL_NAME] : names;
  return {
    parts: asks ? [] : [{ type: 'text', text: wordsOf(`answer ${turn}`, bytes / 2) }],
    calls: asks
      ? all.map((name, index) => ({
          id: `call_${turn}_${index}`,
          name,
          argumentsJson: JSON.stringify({ id: `${turn} ${index}`, bytes }),
        }))
      : [],
    finishReason: asks ? 'tool_calls' : 'stop',
    usage: { inputTokens: 10, outputTokens: 5 },
    model: 'free',
  };
}

const summary: ModelResponse = {
  parts: [{ type: 'text', text: wordsOf('summary', SUMMARY_BYTES) }],
  calls: [],
  finishReason: 'stop',
  usage: { inputTokens: 10, outputTokens: 5 },
  model: 'free',
};

const model: Model = {
  name: 'free',
  generate: (request, { onEvent }) => {
    const response = answer(request);
    for (const part of response.parts)
      if (part.type === 'text') onEvent({ type: 'text', text: part.text });
    return Promise.resolve(response);
  },
};

const input = z.object({ id: z.string(), bytes: z.number() });
const output = z.object({ found: z.string() });

const lookup = (name: (typeof LOOKUP_NAMES)[number]) =>
  defineTool({
    name,
    description: 'Looks something up.',
    input,
    output,
    effects: 'none',
    run: ({ id, bytes }) => ({ found: wordsOf(id, bytes) }),
  });

const pay = defineTool({
  name: GATED_TOOL_NAME,
  description: 'Needs an approval.',
  input,
  output,
  effects: 'idempotent',
  approval: 'required',
  run: () => ({ found: 'yes' }),
});

const own = [lookup('lookup.one'), lookup('lookup.two'), pay];

export const growing = defineAgent({
  name: GROWING_AGENT,
  model,
  instructions: 'Look everything up.',
  tools: own,
});

/** 100 KB of state, of which each turn writes 1 KB. */
const pages = definePlugin({
  id: 'pages',
  state: z.object({ pages: z.record(z.string(), z.string()).default({}) }),
  prepare: ({ state, turn: { turnId, step } }) => {
    if (step > 1) return;
    const isNew = Object.keys(state.getState(pages).pages).length === 0;
    if (isNew) state.setState(pages, { pages: allSlots() });
    else {
      state.patchState(pages, { op: 'set', path: `/pages/${slotOf(turnId)}`, value: KILOBYTE });
    }
  },
});
export const growingParts = defineAgent({
  name: GROWING_PARTS_AGENT,
  model,
  instructions: 'Look everything up.',
  tools: [...others, ...own],
  plugins: [pages, counts, hides],
});
