/** Documents of MCP servers that change while workers run, on servers of the protocol. */
import { expect, it } from 'vitest';
import {
  type HsafaServerOptions,
  hsafaServers,
  memoryServerDocuments,
} from '../../../src/compat/hsafa/index.js';
import { type McpServer, mcpServer } from '../../../src/index.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import { kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { mcpWorker } from '../mcp/setup.js';

const OF = { tenant: 'default', agent: 'support' };

async function kit() {
  const ledger = mcpLedger();
  const http = await startMcpServer(() => kitServer(ledger));
  return { ledger, http };
}

/** Two workers that read the same store. */
function workers(options: HsafaServerOptions = {}, mcpServers: readonly McpServer[] = []) {
  const store = memoryServerDocuments();
  const boxes = [1, 2].map(() => hsafaServers(store, { allowPrivate: true, ...options }));
  const [first, second] = boxes.map(({ plugin }) => mcpWorker({ plugins: [plugin], mcpServers }));
  return { servers: boxes[0]!, store, first: first!, second: second! };
}

it(
  'a server is there from the next model call on; a call that waits keeps its version, and ends once it is deleted',
  promise('G405'),
  async () => {
    const [old, next] = [await kit(), await kit()];
    const { servers, first, second } = workers();
    expect(await first.tools()).toEqual([]);
    const document = { name: 'kit', url: old.http.url, allowedTools: ['search', 'delete'] };
    expect(await servers.put(OF, document)).toMatchObject({ version: 1, warnings: [] });
    expect(await first.tools()).toEqual(['kit.delete', 'kit.search']);
    const parked: PlannedCall[] = [];
    for (let n = 0; n < 3; n += 1) parked.push(await first.plan('kit.delete'));
    await servers.put(OF, { ...document, url: next.http.url, allowedTools: ['search'] });
    expect(await first.tools()).toEqual(['kit.search']);
    expect(await second.run(parked[0]!)).toMatchObject({ envelope: { ok: true } });
    expect([old.ledger.runs, next.ledger.runs]).toEqual([['delete'], []]);
    expect(await servers.delete(OF, 'kit')).toBe(true);
    expect(await first.tools()).toEqual([]);
    expect(await second.run(parked[1]!)).toMatchObject({
      envelope: { ok: false, error: { code: 'not_available', message: /no longer available/ } },
    });
    // Another server of the same name takes no calls of the one that was deleted.
    await servers.put(OF, { ...document, url: next.http.url });
    expect(await second.run(parked[2]!)).toMatchObject({
      envelope: { ok: false, error: { code: 'not_available' } },
    });
    expect(await second.run(await first.plan('kit.delete'))).toMatchObject({
      envelope: { ok: true },
    });
    expect([old.ledger.runs, next.ledger.runs]).toEqual([['delete'], ['delete']]);
  },
);

it('a server belongs to one agent of one tenant', async () => {
  const { http } = await kit();
  const { servers, first } = workers();
  const document = { name: 'kit', url: http.url };
  await servers.put({ ...OF, tenant: 'other' }, document);
  await servers.put({ ...OF, agent: 'other' }, document);
  expect(await first.tools()).toEqual([]);
  expect(http.seen).toEqual([]);
});

it('headers have the secrets that they name, which are in no plan, log or result', async () => {
  const { http } = await kit();
  const { servers, first } = workers({
    secret:
      (name) =>
      ({ caller }) =>
        `tok_${name}_of_${caller?.tenant ?? ''}`,
  });
  const headers = { Authorization: { secret: 'github', prefix: 'Bearer ' }, 'X-Team': 'tea' };
  await servers.put(OF, { name: 'kit', url: http.url, headers });
  const plan = await first.plan('kit.fail', { say: 'tok_github_of_default' });
  const end = await first.run(plan);
  expect(http.seen.length).toBeGreaterThan(1);
  for (const { authorization, headers: sent } of http.seen) {
    expect(authorization).toBe('Bearer tok_github_of_default');
    expect(sent['x-team']).toBe('tea');
  }
  expect(JSON.stringify(plan.made)).toContain('"secret":"github"');
  expect(JSON.stringify(end)).toContain('[redacted]');
  expect(JSON.stringify([plan.made, end, first.logged, first.live])).not.toContain('tok_github');
});

it('a document that a store holds against the rules takes no server from the others', async () => {
  const { http } = await kit();
  const { servers, store, first } = workers();
  await store.put(OF, { name: 'bad', url: 'file:///etc/passwd' }, 9);
  await servers.put(OF, { name: 'kit', url: http.url, allowedTools: ['search'] });
  expect(await first.tools()).toEqual(['kit.search']);
  expect(first.logged).toContainEqual(
    expect.objectContaining({ level: 'error', message: 'server document not used' }),
  );
});

it("a document with the name of a server of the agent's definition is not used, with a warning", async () => {
  const [own, other] = [await kit(), await kit()];
  const { servers, first } = workers({}, [mcpServer({ name: 'kit', url: own.http.url })]);
  await servers.put(OF, { name: 'kit', url: other.http.url });
  expect(await first.tools()).toContain('kit.search');
  expect(other.http.seen).toEqual([]);
  expect(first.logged).toMatchObject([
    { level: 'warn', message: expect.stringMatching(/^server document not used/) as string },
  ]);
});
