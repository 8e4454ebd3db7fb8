import { expect, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { conversationAddress } from '../../../web/shared/places.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { commandsOn } from '../../support/waits-by-hand.js';

const MODEL = () =>
  script(
    callsAll([
      { name: 'stock', input: { item: 'tea' } },
      { name: 'payments.refund', input: { paymentId: 'p1', cents: 900 } },
      { name: 'customer.ask', input: { question: 'Which | one?' } },
    ]),
    says('done'),
  );

interface Metadata {
  readonly currentDetails?: string;
  readonly definition?: {
    readonly updateDefinitions?: readonly { name?: string; description?: string }[];
    readonly signalDefinitions?: readonly { name?: string; description?: string }[];
    readonly queryDefinitions?: readonly { name?: string; description?: string }[];
  };
}

function summary(data: Uint8Array | null | undefined): string {
  return data ? String(JSON.parse(Buffer.from(data).toString())) : '';
}

async function timersOf(engine: Engine, talk: Conversation): Promise<readonly string[]> {
  const events = await engine.history.events(engine.workflowId(talk));
  return events.flatMap(({ timerStartedEventAttributes: timer, userMetadata }) =>
    timer ? [summary(userMetadata?.summary?.data)] : [],
  );
}

test('every activity and timer describes itself in words', promise('S46'), async () => {
  const engine = await startEngine({ agents: [shop(MODEL())], services: ledger() });
  const { talk } = await engine.ask();
  const events = await engine.history.events(engine.workflowId(talk));
  const { pending, turn } = await engine.snapshot(talk);
  const activities = events.flatMap(
    ({ activityTaskScheduledEventAttributes: activity, userMetadata }) =>
      activity ? [[activity.activityId, summary(userMetadata?.summary?.data)]] : [],
  );
  expect(activities).toEqual([
    [`model:${turn?.turnId ?? ''}:1`, 'model scripted step 1'],
    ['tool:stock:call_1', 'tool stock (call_1)'],
  ]);
  expect((await timersOf(engine, talk)).toSorted()).toEqual(
    pending.map(({ kind, name, deadline }) => `${kind} ${name} until ${deadline}`).sort(),
  );
});

test('a timer that no code waits for says so', async () => {
  const engine = await startEngine({ agents: [shop(MODEL())], services: ledger() });
  const { talk } = await engine.ask();
  const before = new Set(await timersOf(engine, talk));
  // The message is recorded, and causes no other command yet.
  await engine.signal(talk, 'sendMessage', { text: 'two', requestId: 'm2', onBusy: 'queue' });
  const others = async () => (await timersOf(engine, talk)).filter((timer) => !before.has(timer));
  expect(await until('the task is marked', others, { holds: ({ length }) => length > 0 })).toEqual([
    'not a wait: marks a task as decided, and does nothing when it fires',
  ]);
});

test('the page of a conversation shows the waiting calls, their audience, their deadline, and how to answer by hand', {
  ...promise('G260', 'S46'),
}, async () => {
  const engine = await startEngine({ agents: [shop(MODEL())], services: ledger() });
  const { talk } = await engine.ask();
  const metadata = await engine.query<Metadata>(talk.id, '__temporal_workflow_metadata');
  const details = metadata.currentDetails ?? '';
  const { pending } = await engine.snapshot(talk);
  expect(details).toContain('**awaiting_input** · agent `shop`');
  for (const { kind, name, toolCallId, deadline } of pending) {
    expect(details).toContain(`**${kind}** of \`${name}\`, call \`${toolCallId}\``);
    expect(details).toContain(`- until ${deadline}`);
  }
  expect(details).toContain('- why: `Money leaves the house`');
  expect(details).toContain('- arguments: `{"paymentId": "p1", "cents": 900, "note": "none"}`');
  expect(details).toContain('- arguments: `{"question": "Which \\u007c one?"}`');
  expect(commandsOn(details)).toHaveLength(2);
  const { updateDefinitions, signalDefinitions, queryDefinitions } = metadata.definition ?? {};
  const described = [updateDefinitions, signalDefinitions, queryDefinitions].map((list) =>
    (list ?? [])
      .filter(
        ({ name, description }) => name?.startsWith('__') !== true && (description ?? '') !== '',
      )
      .map(({ name }) => name)
      .sort(),
  );
  expect(described).toEqual([
    [
      ...['cancelTurn', 'changeSuspension', 'childEnded', 'claimToolCall', 'closeConversation'],
      ...['extendToolCall', 'inboxEvent'],
      ...['leaseLost', 'resolveBatch', 'resolveToolCall', 'revokeRule', 'sendMessage'],
    ],
    [
      ...['cancelTurn', 'childEnded', 'closeConversation', 'inboxEvent', 'recover'],
      ...['resolveToolCall', 'rollOver', 'sendMessage'],
    ],
    ['events', 'pending', 'pluginStates', 'snapshot', 'toolCall', 'transcriptSlice'],
  ]);
});

test('workflows can be searched by status, agent, tenant, tool and deadline', {
  ...promise('S46'),
}, async () => {
  const engine = await startEngine({ agents: [shop(MODEL())], services: ledger() });
  const { talk } = await engine.ask();
  const find = async (query: string): Promise<readonly string[]> => {
    const found: string[] = [];
    const own = `WorkflowId = '${engine.workflowId(talk)}'`;
    for await (const { workflowId } of engine.temporal.workflow.list({
      query: `${own} AND ${query}`,
    }))
      found.push(workflowId);
    return found;
  };
  const finds = async (query: string): Promise<void> => {
    await until(`visible by ${query}`, () => find(query), {
      holds: (found) => found.length === 1,
    });
  };
  await finds(
    `ColloquyStatus = 'awaiting_input' AND ColloquyAgent = 'shop' AND ColloquyTenant = 'default'`,
  );
  await finds(`ColloquyPendingTools = 'payments.refund' AND ColloquyPendingTools = 'customer.ask'`);
  const first =
    (await engine.snapshot(talk)).pending.map(({ deadline }) => deadline).sort()[0] ?? '';
  const [from, to] = [-1_000, 1_000].map((ms) => new Date(Date.parse(first) + ms).toISOString());
  await finds(`ColloquyDeadline BETWEEN '${from ?? ''}' AND '${to ?? ''}'`);
  await talk.resolve('call_2', { type: 'deny' });
  await talk.resolve('call_3', { type: 'decline' });
  await engine.idle(talk);
  await finds(`ColloquyStatus = 'active' AND ColloquyDeadline IS NULL`);
  expect(await find(`ColloquyPendingTools = 'customer.ask'`)).toEqual([]);
  await talk.close();
  await finds(`ColloquyStatus = 'closed'`);
});

test('the summary of a workflow names agent and conversation, its memo holds the first words', async () => {
  const engine = await startEngine({ agents: [shop(script(says('hi')))], services: ledger() });
  const { talk } = await engine.ask('  Where is\nmy parcel?  ');
  const { memo, raw } = await engine.history.describe(engine.workflowId(talk));
  expect(memo).toEqual({ title: 'Where is my parcel?', agent: 'shop' });
  const metadata = raw.executionConfig?.userMetadata;
  expect(summary(metadata?.summary?.data)).toBe(`shop: ${talk.id}`);
  expect(summary(metadata?.details?.data)).toContain('Agent `shop` (`scripted`)');
});

test('the page of a conversation links to it in the web page, also after a roll-over', {
  ...promise('G398'),
}, async () => {
  const pageUrl = 'https://agents.example.com/ui';
  const engine = await startEngine({ agents: [shop(MODEL())], services: ledger(), pageUrl });
  const { talk } = await engine.ask();
  const { href } = new URL(conversationAddress(talk.id), pageUrl);
  const link = `[Open in the web page](${href})`;
  const details = async (): Promise<string> =>
    (await engine.query<Metadata>(talk.id, '__temporal_workflow_metadata')).currentDetails ?? '';
  expect(await details()).toContain(link);
  await engine.signal(talk, 'rollOver');
  const runs = async () => (await engine.history.runs(engine.workflowId(talk))).length;
  await until('it rolled over', runs, { holds: (count) => count === 2 });
  expect(await details()).toContain(link);
});

test('a conversation works without search attributes', async () => {
  const engine = await startEngine({
    agents: [shop(MODEL())],
    services: ledger(),
    searchAttributes: false,
  });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'waiting' });
  await talk.close();
  const lines = await engine.history.lines(engine.workflowId(talk));
  expect(lines).not.toContain('UpsertWorkflowSearchAttributes');
});
