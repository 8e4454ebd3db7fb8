/** MCP servers as documents, in durable conversations: put, changed and deleted while calls wait for an approval. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, inject, test } from 'vitest';
import {
  type HsafaServerOptions,
  hsafaServerPlugin,
  hsafaServers,
  keptServerDocuments,
} from '../../../src/compat/hsafa/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { scriptedBy } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { replay } from '../../support/engine/replay.js';
import { kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';

async function kit() {
  const ledger = mcpLedger();
  const http = await startMcpServer(() => kitServer(ledger));
  return { ledger, http };
}

test('a server is put, changed and deleted while its calls wait, and another worker takes over: each call goes to its own version, and ends once the server is deleted', {
  ...promise('G405'),
}, async () => {
  const options: HsafaServerOptions = { allowPrivate: true, mcp: () => ({ approval: 'required' }) };
  const agent = defineAgent({
    name: 'support',
    model: scriptedBy(({ messages, tools }) => {
      const [tool] = tools.flatMap((each) => ('name' in each ? [each.name] : []));
      return messages.at(-1)?.role === 'tool' || tool === undefined
        ? { type: 'answer', text: 'Done.' }
        : { type: 'answer', calls: [{ name: tool, input: {} }] };
    }),
    instructions: 'Help.',
    plugins: [hsafaServerPlugin(options)],
  });
  const engine = await startEngine({ agents: [agent] });
  const servers = hsafaServers(keptServerDocuments(engine.opened.documents!), options);
  const of = { tenant: 'default', agent: 'support' };
  const [old, next] = [await kit(), await kit()];
  const document = { name: 'kit', url: old.http.url, allowedTools: ['delete'] };
  await servers.put(of, document);
  const [changed, deleted] = [engine.begin('changed'), engine.begin('deleted')];
  for (const talk of [changed, deleted])
    expect(await engine.say(talk, 'Go')).toMatchObject({
      ...{ status: 'waiting', pending: [{ kind: 'approval', name: 'kit.delete' }] },
    });
  await servers.put(of, { ...document, url: next.http.url });
  await engine.stopWorker();
  await engine.startWorker();

  expect((await changed.resolve('call_1', { type: 'approve' })).verdict).toBe('accepted');
  await engine.idle(changed);
  expect([old.ledger.runs, next.ledger.runs]).toEqual([['delete'], []]);
  await servers.delete(of, 'kit');
  expect((await deleted.resolve('call_1', { type: 'approve' })).verdict).toBe('accepted');
  await engine.idle(deleted);
  const log = await engine.log(deleted);
  expect(log.find((event) => event.type === 'tool_result')).toMatchObject({
    result: {
      envelope: { ok: false, error: { code: 'not_available', message: /no longer available/ } },
    },
  });
  expect(old.ledger.runs).toEqual(['delete']);
  expect(await engine.say(deleted, 'Again')).toMatchObject({ status: 'completed' });

  const handle = engine.temporal.workflow.getHandle(engine.workflowId(deleted));
  const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as object;
  await replay({ codePath: inject('workflowBundlePath') }, history);
});
