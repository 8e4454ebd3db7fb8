/**
 * The agents of the engine's side: one for each workload, with a model and tools that cost nothing, so that only the
 * engine is measured. The model is a pure function of the transcript, so every attempt in any process gives the same
 * answer.
 */
import { type Agent, defineAgent, defineTool, type Model } from 'colloquy';
import type { ModelRequest, ModelResponse } from 'colloquy/model';
import { z } from 'zod';
import {
  GATED_TOOL_NAME,
  type InlineCase,
  MODEL_TEXT,
  OTHER_TOOL_NAME,
  TOOL_NAMES,
  type Workload,
} from '../shared/cells.js';
import { partsAgents } from './parts.js';

const GATED = [...TOOL_NAMES, GATED_TOOL_NAME];
const MIXED = [...TOOL_NAMES, OTHER_TOOL_NAME];
type AgentWorkload = Workload | 'mixed' | `${InlineCase}-inline`;
const NAMES: Readonly<Record<AgentWorkload, readonly string[]>> = {
  a: [],
  b: TOOL_NAMES,
  c: GATED,
  d: GATED,
  mixed: MIXED,
  'c-inline': GATED,
  'mixed-inline': MIXED,
};

function freeModel(workload: AgentWorkload): Model {
  return freeModelOf(NAMES[workload]);
}

function freeModelOf(names: readonly string[]): Model {
  const answer = (request: ModelRequest): ModelResponse => {
    // Plugins add a message behind the conversation.
    const last = request.messages.findLast(({ id }) => !id.endsWith('.context'));
    const asks = last?.role === 'user' ? names : [];
    const about = last?.turnId ?? '';
    return {
      parts: asks.length > 0 ? [] : [{ type: 'text', text: MODEL_TEXT }],
      calls: asks.map((name, index) => ({
        id: `call_${about}_${index}`,
        name,
        argumentsJson: '{"id":"p_1"}',
      })),
      finishReason: asks.length > 0 ? 'tool_calls' : 'stop',
      usage: { inputTokens: 10, outputTokens: 5 },
      model: 'free',
    };
  };
  return {
    name: 'free',
    generate: (request, { onEvent }) => {
      const response = answer(request);
      for (const part of response.parts)
        if (part.type === 'text') onEvent({ type: 'text', text: part.text });
      return Promise.resolve(response);
    },
  };
}

const input = z.object({ id: z.string() });
const output = z.object({ found: z.string() });

function lookups(inline: boolean) {
  return TOOL_NAMES.map((name) =>
    defineTool({
      name,
      description: 'Looks something up.',
      input,
      output,
      effects: 'none',
      inline,
      run: () => ({ found: 'yes' }),
    }),
  );
}

const note = defineTool({
  name: OTHER_TOOL_NAME,
  description: 'Has an effect.',
  input,
  output,
  effects: 'idempotent',
  run: () => ({ found: 'yes' }),
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

function agent(workload: AgentWorkload): Agent<Readonly<Record<string, unknown>>> {
  const tools = [...lookups(workload.endsWith('-inline')), pay, note];
  return defineAgent({
    name: `bench-${workload}`,
    model: freeModel(workload),
    instructions: 'Answer at once.',
    tools: tools.filter(({ name }) => NAMES[workload].includes(name)),
  });
}

/** Requests as many calls as the message says. */
function manyCalls(name: string): Model {
  const answer = (request: ModelRequest): ModelResponse => {
    const last = request.messages.at(-1);
    const [part] = last?.role === 'user' ? last.parts : [];
    const count = part?.type === 'text' ? Number.parseInt(part.text, 10) || 1 : 0;
    const calls = Array.from({ length: count }, (_, index) => ({
      id: `call_${last?.turnId ?? ''}_${index}`,
      name,
      argumentsJson: '{"id":"p_1"}',
    }));
    return {
      parts: count > 0 ? [] : [{ type: 'text', text: MODEL_TEXT }],
      calls,
      finishReason: count > 0 ? 'tool_calls' : 'stop',
      usage: { inputTokens: 10, outputTokens: 5 },
      model: 'free',
    };
  };
  return { name: 'free', generate: (request) => Promise.resolve(answer(request)) };
}

const ask = defineTool({
  name: 'ask',
  description: 'Asks a person.',
  executor: 'human',
  input,
  output: z.object({ answer: z.string() }),
});

/** For the latency of resolutions: many calls of one step wait in parallel. */
export const answers = defineAgent({
  name: 'bench-answer',
  model: manyCalls('ask'),
  instructions: 'Ask.',
  tools: [ask],
});
export const approvals = defineAgent({
  name: 'bench-approve',
  model: manyCalls(GATED_TOOL_NAME),
  instructions: 'Pay.',
  tools: [pay],
});
/** Its conversations wait for an answer that never arrives. */
export const parked = defineAgent({
  name: 'bench-parked',
  model: manyCalls('ask'),
  instructions: 'Ask.',
  tools: [ask],
});

export const oneCall = agent('a');
export const twoTools = agent('b');
export const gated = agent('c');
export const gatedUnlisted = agent('d');
export const gatedInline = agent('c-inline');
export const mixed = agent('mixed');
export const mixedInline = agent('mixed-inline');
const parts = partsAgents((names) => freeModelOf(names));
export const { forty, fortyPlugins, subs } = parts;
export { growing, growingParts } from './growing.js';
