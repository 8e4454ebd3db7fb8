/** Conversations of sub-agents and of those that start them: answered, reported by hand, stopped, closed. */
import { z } from 'zod';
import { agentTool, defineAgent, defineTool, handoffTool } from '../../../../src/index.js';
import { calls, callsAll, says, scriptedBy } from '../../../../src/model/scripted/scripted.js';
import { UPDATES } from '../../../../src/protocol/workflow/messaging.js';
import { type Engine, startEngine } from '../../engine/engine.js';
import { until } from '../../until.js';
import { ended, type Recorded, rollOver, type Scenario, type Talk } from './scenario.js';

const remove = defineTool({
  name: 'files.remove',
  description: 'Removes a file.',
  input: z.object({ path: z.string() }),
  approval: 'required',
  run: ({ path }) => ({ removed: path }),
});

const researcher = defineAgent({
  name: 'researcher',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? says('removed') : calls('files.remove', { path: 'a' }),
  ),
  instructions: 'Research.',
  tools: [remove],
});
const about = { name: 'research', description: 'Researches.' } as const;
const three = ['one', 'two', 'three'].map((task) => ({ name: 'research', input: { task } }));

const lead = defineAgent({
  name: 'lead',
  model: scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? says('done') : callsAll(three),
  ),
  instructions: 'Lead.',
  tools: [agentTool(researcher, about)],
});

/** Three sub-agents wait for a person each. Their conversations, in call order. */
async function begun(id: string): Promise<Recorded & { readonly children: readonly Talk[] }> {
  const engine = await startEngine({ agents: [lead], taskQueue: id });
  const talk = engine.begin(id);
  await engine.send(talk, 'hello');
  const log = await until('all have started', () => engine.log(talk), {
    holds: (events) =>
      events.filter((event) => event.type === 'child_changed' && event.status === 'started')
        .length === three.length,
  });
  const children = log.flatMap((event) =>
    event.type === 'child_changed' && event.status === 'starting'
      ? [engine.client.conversation(event.childId)]
      : [],
  );
  for (const child of children) await waits(child);
  return { engine, talk, children };
}

async function waits(child: Talk): Promise<void> {
  await until('a call waits', () => child.pending().catch(() => []), {
    holds: ({ length }) => length === 1,
  });
}

async function approve(child: Talk | undefined): Promise<void> {
  const [call] = (await child?.pending()) ?? [];
  await child?.resolve(call?.toolCallId ?? '', { type: 'approve' });
}

async function results(engine: Engine, talk: Talk, count: number): Promise<void> {
  await until(`${count} results`, () => engine.logTypes(talk), {
    holds: (types) => types.filter((type) => type === 'tool_result').length === count,
  });
}

async function leadOfThree(id: string): Promise<Recorded> {
  const { engine, talk, children } = await begun(id);
  await rollOver(engine, talk, 2);
  const [first, second] = children;
  await approve(first);
  await results(engine, talk, 1);
  const call = (await engine.log(talk)).find(
    (event) => event.type === 'child_changed' && event.childId === second?.id,
  );
  const usage = { inputTokens: 1, outputTokens: 1 };
  const report = {
    toolCallId: call?.type === 'child_changed' ? call.toolCallId : '',
    childId: second?.id ?? '',
    end: { status: 'failed', text: '', error: { code: 'internal', message: 'lost' }, usage },
  };
  await engine.handle(talk).executeUpdate(UPDATES.childEnded, { args: [report] });
  await talk.cancel();
  await engine.idle(talk);
  return { engine, talk };
}

/** One that has done its work, or whose caller has closed. */
async function researcherOf(id: string, closes: boolean): Promise<Recorded> {
  const { engine, talk: caller, children } = await begun(id);
  const [talk] = children;
  if (talk === undefined) throw new Error('no sub-agent');
  if (closes) await caller.close();
  else await approve(talk);
  await ended(engine, talk);
  if (!closes) await caller.cancel();
  return { engine, talk };
}

const billing = defineAgent({
  name: 'billing',
  model: scriptedBy(() => says('billing here')),
  instructions: 'Bill.',
});
const triage = defineAgent({
  name: 'triage',
  model: scriptedBy(() =>
    callsAll([
      { name: 'files.remove', input: { path: 'a' } },
      { name: 'to.billing', input: { note: 'x' } },
    ]),
  ),
  instructions: 'Triage.',
  tools: [remove, handoffTool(billing, { name: 'to.billing', description: 'Passes on.' })],
});

/** A call waits while the conversation is passed on, and rolls over. */
async function passedOn(id: string): Promise<Recorded> {
  const engine = await startEngine({ agents: [triage], taskQueue: id });
  const talk = engine.begin(id);
  await engine.send(talk, 'hello');
  await waits(talk);
  await rollOver(engine, talk, 2);
  await approve(talk);
  await engine.idle(talk);
  return { engine, talk };
}

export const SCENARIOS_OF_SUB_AGENTS: readonly Scenario[] = [
  { name: 'sub-agents', runs: 2, converse: leadOfThree },
  { name: 'handed-over', runs: 2, lastAgent: 'billing', converse: passedOn },
  { name: 'sub-agent-done', converse: async (id) => await researcherOf(id, false) },
  { name: 'sub-agent-closed', converse: async (id) => await researcherOf(id, true) },
];
