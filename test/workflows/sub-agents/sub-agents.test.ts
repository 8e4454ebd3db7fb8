/** Sub-agents on a real server: their calls wait in conversations of their own, which report to the one above. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { agentTool, defineAgent, defineTool, handoffTool } from '../../../src/index.js';
import { calls, callsAll, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

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

function leadBy(mode: 'await' | 'detach') {
  const tool = agentTool(researcher, { name: 'research', description: 'Researches.', mode });
  return defineAgent({
    name: 'lead',
    model: scriptedBy(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return says('goes on');
      if (last?.role === 'user' && 'inbox' in last) return says('heard of it');
      return calls('research', { task: 'clean up' });
    }),
    instructions: 'Lead.',
    tools: [tool],
  });
}

async function childOf(engine: Engine, talk: Conversation): Promise<Conversation> {
  const log = await until('the sub-agent has started', () => engine.log(talk), {
    holds: (events) =>
      events.some((event) => event.type === 'child_changed' && event.status === 'started'),
  });
  const started = log.find((event) => event.type === 'child_changed');
  const childId = started?.type === 'child_changed' ? started.childId : '';
  const child = engine.client.conversation(childId);
  await until('its call waits', () => child.pending().catch(() => []), {
    holds: ({ length }) => length === 1,
  });
  return child;
}

test('that a worker begins is linked to the web page, too', promise('G398'), async () => {
  const pageUrl = 'https://agents.example.com/ui';
  const engine = await startEngine({ agents: [leadBy('await'), researcher], pageUrl });
  const { talk } = await engine.ask('go');
  const child = await childOf(engine, talk);
  const { memo } = await engine.history.describe(engine.workflowId(child));
  expect(memo).toMatchObject({ page: `${pageUrl}/conversations/${child.id}` });
});

test(
  'that is at work is heard in the stream of its caller, at two levels',
  promise('G336'),
  async () => {
    const reads = defineTool({
      name: 'files.read',
      description: 'Reads a file.',
      input: z.object({}),
      streaming: true,
      run: (_, { progress }) => {
        progress({ percent: 50 });
        return 'text';
      },
    });
    const model = (answer: string, name: string, input = { task: 'read' }) =>
      scriptedBy(({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? says(answer)
          : calls(name, name === reads.name ? {} : input),
      );
    const base = { instructions: 'Work.' };
    const reader = defineAgent({
      ...base,
      name: 'reader',
      model: model('I have read it.', reads.name),
      tools: [reads],
    });
    const ask = agentTool(reader, { name: 'read', description: 'Reads.' });
    const middle = defineAgent({
      ...base,
      name: 'middle',
      model: model('It was read.', 'read'),
      tools: [ask],
    });
    const delegate = agentTool(middle, { name: 'delegate', description: 'Delegates.' });
    const lead = defineAgent({
      ...base,
      name: 'lead',
      model: model('Done.', 'delegate'),
      tools: [delegate],
    });
    const engine = await startEngine({ agents: [lead] });
    const talk = engine.begin();
    const left = new AbortController();
    const heard: string[] = [];
    const seqs: number[] = [];
    const reading = (async () => {
      for await (const frame of talk.subscribe({ nested: true, signal: left.signal }))
        if (frame.type === 'nested')
          heard.push(`${frame.path.map(({ name }) => name).join('>')} ${frame.event.type}`);
        else if (frame.type === 'event') seqs.push(frame.event.seq);
    })();
    expect(await engine.say(talk, 'Go')).toMatchObject({ status: 'completed', text: 'Done.' });
    await until('both are heard', () => heard, {
      holds: (all) =>
        ['delegate text_delta', 'delegate>read tool_progress', 'delegate>read text_delta'].every(
          (wanted) => all.includes(wanted),
        ),
    });
    await until('the log is whole', () => engine.log(talk), {
      holds: ({ length }) => length === seqs.length,
    });
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    left.abort();
    await reading;
  },
);

async function approve(child: Conversation): Promise<void> {
  const [pending] = await child.pending();
  await child.resolve(pending?.toolCallId ?? '', { type: 'approve' });
}

test(
  'an awaited one is answered where it waits, after roll-overs of both',
  promise('G310', 'G316'),
  async () => {
    const first = await startEngine({ agents: [leadBy('await')] });
    const talk = first.begin();
    await first.send(talk, 'Go');
    const child = await childOf(first, talk);
    const below = await until('it is listed under its root', () => talk.pending({ nested: true }), {
      holds: ({ length }) => length === 1,
    });
    expect(below[0]).toMatchObject({
      ...{ name: 'files.remove', agent: 'researcher', conversationId: child.id },
      path: [{ conversationId: talk.id, name: 'research' }],
    });
    expect(await talk.pending()).toEqual([]);
    for (const each of [talk, child]) {
      const runs = () => first.history.runs(first.workflowId(each));
      await first.signal(each, 'rollOver');
      await until('a new run begins', runs, { holds: ({ length }) => length > 1 });
    }
    await approve(child);
    await first.idle(talk);
    const log = await first.log(talk);
    expect(
      log.flatMap((event) => (event.type === 'tool_result' ? [event.result.envelope] : [])),
    ).toEqual([{ ok: true, result: 'removed' }]);
    expect((await child.snapshot()).status).toBe('closed');
    expect((await talk.snapshot()).usage.inputTokens).toBeGreaterThan(0);
  },
);

test(
  'a detached one answers by new input, and a cancel or a close of the caller stops it',
  promise('G310', 'G312'),
  async () => {
    const engine = await startEngine({ agents: [leadBy('detach')] });
    const { talk } = await engine.ask('Go');
    const child = await childOf(engine, talk);
    await approve(child);
    await until('the answer is read', () => engine.logTypes(talk), {
      holds: (types) => types.filter((type) => type === 'turn_ended').length === 2,
    });
    const { talk: other } = await engine.ask('Go');
    const closed = await childOf(engine, other);
    await other.close();
    await until('it is closed as well', () => closed.snapshot(), {
      holds: ({ status }) => status === 'closed',
    });
  },
);

test(
  'deleting the conversation of the caller deletes that of the sub-agent',
  promise('G312'),
  async () => {
    const engine = await startEngine({ agents: [leadBy('await')] });
    const talk = engine.begin();
    await engine.send(talk, 'Go');
    const child = await childOf(engine, talk);
    const root = talk.id;
    await until('it is stored', () => engine.client.list({ root }), {
      holds: ({ conversations }) => conversations.length > 0,
    });
    await engine.client.deleteConversation(talk.id);
    expect(await talk.exists()).toBe(false);
    expect(await child.exists()).toBe(false);
  },
);

test(
  'a cancel of the turn closes an awaited one, and counts what it has spent',
  promise('G312'),
  async () => {
    const engine = await startEngine({ agents: [leadBy('await')] });
    const talk = engine.begin();
    await engine.send(talk, 'Go');
    const child = await childOf(engine, talk);
    const { usage } = await child.snapshot();
    await talk.cancel();
    await until('it is closed', () => child.snapshot(), {
      holds: ({ status }) => status === 'closed',
    });
    const log = await until('its end is known', () => engine.log(talk), {
      holds: (events) =>
        events.some((event) => event.type === 'child_changed' && event.status === 'ended'),
    });
    expect(log.at(-1)).toMatchObject({ end: { status: 'cancelled', usage } });
  },
);

test(
  'a hand-off outlasts a roll-over, and calls of before run with their own agent',
  promise('G318'),
  async () => {
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
    const engine = await startEngine({ agents: [triage] });
    const talk = engine.begin();
    await engine.send(talk, 'hello');
    await engine.reaches(talk, 'awaiting_input');
    const runs = () => engine.history.runs(engine.workflowId(talk));
    await engine.signal(talk, 'rollOver');
    await until('a new run begins', runs, { holds: ({ length }) => length > 1 });
    expect((await talk.snapshot()).agent).toBe('billing');
    const [call] = await talk.pending();
    expect(call?.agent).toBe('triage');
    await talk.resolve(call?.toolCallId ?? '', { type: 'approve' });
    await engine.idle(talk);
    const results = (await engine.log(talk)).flatMap((event) =>
      event.type === 'tool_result' ? [event.result.envelope] : [],
    );
    expect(results).toContainEqual({ ok: true, result: { removed: 'a' } });
    // The client still names the agent that the conversation began with.
    const { text } = (await engine.say(talk, 'more')) as { text: string };
    expect(text).toBe('billing here');
    await talk.close();
    const again = await talk.send('again', { reopen: true });
    expect(again.status).toBe('admitted');
    expect((await talk.snapshot()).agent).toBe('billing');
  },
);
