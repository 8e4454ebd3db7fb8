/** An agent whose tools wait for every kind of answerer, and the answers that printed commands give them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { wellFormed } from '../../../src/protocol/values/well-formed.js';
import { type Engine, startEngine } from '../engine/engine.js';
import { until } from '../until.js';
import { HOSTILE } from '../waits-by-hand.js';

const run = promisify(execFile);

const base = { description: 'A tool.', input: z.looseObject({}) };
const Form = z.object({ size: z.enum(['S', 'M']), count: z.int().positive() });
const pay = defineTool({
  ...base,
  name: 'pay',
  approval: {
    // Every test's requester is `tester`.
    ask: {
      reason: wellFormed(HOSTILE.join(' ')),
      audience: { users: ['tester', 'ben'], exclude: ['requester'] },
    },
  },
  run: () => 'paid',
});
const ask = defineTool({ ...base, name: 'ask', executor: 'human', output: Form });
const find = defineTool({ ...base, name: 'find', executor: 'external', output: z.array(Form) });
const read = defineTool({
  ...base,
  name: 'read',
  executor: 'client',
  output: z.object({ items: z.array(z.string()) }),
  timeouts: { answer: '30 minutes', claim: '30 minutes' },
});
const order = defineTool({
  ...base,
  name: 'order',
  run: (_input, ctx) => {
    if (ctx.asks === 0) return ctx.ask({ form: z.boolean(), state: 1 });
    if (ctx.asks === 1) return ctx.ask({ form: Form, state: 2, audience: { users: ["o'brien"] } });
    return 'ordered';
  },
});
const TOOLS = [pay, ask, find, read, order];

function shopWith(input: Json): Agent<undefined> {
  const calls = TOOLS.map(({ name }) => ({ name, input }));
  const model = script(callsAll(calls), says('done'));
  return defineAgent({ name: 'shop', model, instructions: 'Help.', tools: TOOLS });
}

export interface ShopTalk {
  readonly engine: Engine;
  readonly talk: Conversation;
}

/**
 * A conversation in which each of its tools is called with this input, and waits; a browser tab has claimed the
 * client's call.
 */
export async function waitingShop(
  input: Json,
  options: { readonly address?: string } = {},
): Promise<ShopTalk> {
  const agents = [shopWith(input)];
  const engine = await startEngine({ agents, services: undefined, ...options });
  const { talk } = await engine.ask();
  const pending = await until('all calls wait', () => talk.pending(), {
    holds: (pending) => pending.length === TOOLS.length,
  });
  const read = pending.find(({ name }) => name === 'read');
  await talk.claim(read?.toolCallId ?? '', { actor: { id: 'tab-1' } });
  // A list reads the store alone, which the worker writes after the claim was confirmed.
  await until('the list shows the claim', () => engine.client.list({ status: 'awaiting_input' }), {
    holds: ({ conversations }) =>
      conversations.some(
        ({ conversationId, pending }) =>
          conversationId === talk.id && pending.some(({ claim }) => claim !== undefined),
      ),
  });
  return { engine, talk };
}

/** Pastes commands into a shell as they were printed, in this order, until the turn is over. */
export async function pasteAll(
  { engine, talk }: ShopTalk,
  printed: () => Promise<readonly string[]>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const paste = async (): Promise<void> => {
    for (const command of await printed()) await run('sh', ['-c', command], { env });
  };
  await paste();
  await until('only the second question of the order waits', () => talk.pending(), {
    holds: ([first, ...others]) => first?.ask === 2 && others.length === 0,
  });
  await paste();
  await engine.idle(talk);
}

const FORM_VALUE = { size: 'S', count: 1 };

/** The answers of the commands, by call; `anybody` where every actor may answer. */
export function expectedAnswers(channel: 'api' | 'temporal', anybody: string): readonly unknown[] {
  const by = (id: string) => ({ id, verified: false, channel });
  return [
    ['call_1', by('ben'), { type: 'approve' }],
    ['call_2', by(anybody), { type: 'answer', value: FORM_VALUE }],
    ['call_3', by(anybody), { type: 'result', value: [] }],
    ['call_4', by('tab-1'), { type: 'result', value: { items: [] } }],
    ['call_5', by(anybody), { type: 'answer', value: true }],
    ['call_5', by("o'brien"), { type: 'answer', value: FORM_VALUE }],
  ];
}

/** The same as recorded, and refusals. */
export async function recordedAnswers({ engine, talk }: ShopTalk): Promise<readonly unknown[]> {
  const log = await engine.log(talk);
  const answers = log.flatMap<readonly [string, ...unknown[]]>((event) => {
    if (event.type === 'resolution_refused') return [['refused', event]];
    if (event.type !== 'resolution') return [];
    return [[event.toolCallId, event.actor, event.resolution]];
  });
  return answers.toSorted(([one], [other]) => one.localeCompare(other));
}
