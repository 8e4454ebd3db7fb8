/** Agents as documents in durable conversations: put, changed and deleted while workers run and calls wait. */

import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, inject, onTestFinished, test } from 'vitest';
import {
  type HsafaStoredAgentOptions,
  hsafaAgentCatalog,
  hsafaAgentDocuments,
  keptAgentDocuments,
} from '../../../src/compat/hsafa/index.js';
import { definePlugin } from '../../../src/index.js';
import { scriptedBy } from '../../../src/model/scripted/scripted.js';
import { knownAgents } from '../../../src/projection/duties/known-agents.js';
import { openEventLog } from '../../../src/projection/index.js';
import { startEngine } from '../../support/engine/engine.js';
import { replay } from '../../support/engine/replay.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const OF = { tenant: 'default' };

/** Calls the first tool, and then says its instructions and the result. */
const OPTIONS: HsafaStoredAgentOptions = {
  spaces: false,
  model: () =>
    scriptedBy(({ messages, tools, system }) => {
      const [tool] = tools.flatMap((each) => ('name' in each ? [each.name] : []));
      const result = messages.findLast(({ role }) => role === 'tool');
      return messages.at(-1)?.role === 'tool' || tool === undefined
        ? { type: 'answer', text: `${system} ${JSON.stringify(result ?? null)}` }
        : { type: 'answer', calls: [{ name: tool, input: {} }] };
    }),
};

let setups = 0;
const noted = definePlugin({
  id: 'noted',
  setup: () => {
    setups += 1;
  },
});

const document = (instructions: string, ...tools: readonly object[]) => ({
  ...{ name: 'assistant', instructions, model: 'any', tools },
});
const asks = (timeout: number) => ({
  ...{ name: 'confirmAction', description: 'Asks.', executionType: 'space', timeout },
  inputSchema: { type: 'object' },
});

test('an agent that no worker had at its start runs, changes and is deleted; a worker that starts later takes over', {
  ...promise('G407', 'G408', 'G409'),
}, async () => {
  const catalog = hsafaAgentCatalog({ ...OPTIONS, plugins: [noted] });
  const eventLog = join(temporaryFolder(), 'log.db');
  const engine = await startEngine({ agents: [], catalog, eventLog });
  expect(setups).toBe(1);
  // Without it the agents would be taken for those that no worker serves.
  const isAnnounced = ({ agents: served }: { readonly agents: object }) => 'hsafa.agents' in served;
  await until('the catalog is announced', async () =>
    (await engine.opened.log.liveWorkers()).some(isAnnounced),
  );
  // As another process, which has no worker.
  const elsewhere = await openEventLog(eventLog);
  onTestFinished(() => elsewhere.close());
  const agents = hsafaAgentDocuments(keptAgentDocuments(elsewhere.documents!), OPTIONS);
  const talk = (id: string, tenant = 'default') =>
    engine.client.conversation(id, { agent: 'assistant', tenant });
  await expect(talk('early').send('Go')).rejects.toMatchObject({ code: 'unknown_agent' });
  await agents.put(OF, document('One.', asks(600_000)));
  const known = knownAgents(elsewhere);
  expect(await known({ ...OF, name: 'assistant' })).toMatchObject([{ name: 'assistant' }]);
  await expect(talk('theirs', 'acme').send('Go')).rejects.toMatchObject({ code: 'unknown_agent' });

  const [changed, deleted] = [talk(`${engine.taskQueue}-1`), talk(`${engine.taskQueue}-2`)];
  for (const each of [changed, deleted])
    expect(await engine.say(each, 'Go')).toMatchObject({
      ...{ status: 'waiting', pending: [{ kind: 'elicitation', name: 'confirmAction' }] },
    });
  await agents.put(OF, document('Two.'));
  await engine.stopWorker();
  await engine.startWorker();

  const answered = { type: 'answer', value: { yes: true } } as const;
  expect((await changed.resolve('call_1', answered)).verdict).toBe('accepted');
  await engine.idle(changed);
  const texts = async () =>
    (await engine.log(changed)).flatMap((event) =>
      event.type === 'assistant_message' ? [JSON.stringify(event)] : [],
    );
  const [, said] = await texts();
  expect(said).toContain('Two.');
  expect(said).toContain('yes');

  expect(await agents.delete(OF, 'assistant')).toBe(true);
  expect((await deleted.resolve('call_1', answered)).verdict).toBe('accepted');
  const end = await until('the turn has ended', async () =>
    (await engine.log(deleted)).find((event) => event.type === 'turn_ended'),
  );
  expect(end).toMatchObject({
    ...{ status: 'failed', error: { code: 'unknown_agent', message: /was deleted/ } },
  });
  await expect(deleted.send('Again')).rejects.toMatchObject({
    ...{ code: 'unknown_agent', message: expect.stringContaining('"assistant"') as string },
  });

  const handle = engine.temporal.workflow.getHandle(engine.workflowId(changed));
  const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as object;
  await replay({ codePath: inject('workflowBundlePath') }, history);
});
