/** Attacks and faults of a server, and their effect on a worker. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { MAX_MCP_LIST_PAGES } from '../../../src/define/mcp/limits.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import { kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { mcpWorker } from './setup.js';

async function kit(start = startMcpServer, more: object = {}) {
  const ledger = mcpLedger();
  const http = await start(() => kitServer(ledger));
  const server = mcpServer({ name: 'kit', url: http.url, ...more });
  return { ledger, http, worker: mcpWorker({ mcpServers: [server] }) };
}

/** Writes as fast as the other side reads, until it hangs up. */
function writeForEver(response: ServerResponse, chunk: string): { written: number } {
  const seen = { written: 0 };
  const write = (): void => {
    while (!response.destroyed) {
      seen.written += chunk.length;
      if (response.write(chunk)) continue;
      response.once('drain', write);
      return;
    }
  };
  write();
  return seen;
}

describe('a server', () => {
  it.each([
    ['an answer', 'application/json', `"${'x'.repeat(65_536)}",`],
    ['an event', 'text/event-stream', `data: ${'x'.repeat(65_536)}\n`],
    ['a line of an event', 'text/event-stream', 'data: x'.repeat(10_000)],
  ])(
    'with %s without an end is disconnected, and the model reads an error',
    promise('G156'),
    async (_what, type, chunk) => {
      const { worker, http } = await kit();
      const plan = await worker.plan('kit.delete');
      let closed = false;
      http.instead = ({ method }, response) => {
        if (method !== 'tools/call') return false;
        response.on('close', () => {
          closed = true;
        });
        response.writeHead(200, { 'content-type': type });
        writeForEver(response, chunk);
        return true;
      };
      expect(await worker.run(plan)).toMatchObject({
        envelope: {
          ok: false,
          error: {
            code: 'tool_error',
            message: expect.stringMatching(/^MCP server "kit": .*more than \d+ bytes/) as string,
          },
        },
      });
      await until('it was hung up on', () => closed);
      expect(http.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
    },
  );

  it.each([
    ['the current protocol', startMcpServer, 'application/json'],
    ['the older protocol', startOldMcpServer, 'application/json'],
    ['the older protocol, by events,', startOldMcpServer, 'text/event-stream'],
  ] as const)(
    'of %s that answers one byte at a time is disconnected at the end of the call',
    promise('G144'),
    async (_which, start, type) => {
      const { worker, http } = await kit(start, { timeouts: { run: '100ms' } });
      const plan = await worker.plan('kit.delete');
      let closed = false;
      http.instead = ({ method }, response) => {
        if (method !== 'tools/call') return false;
        response.writeHead(200, { 'content-type': type });
        const timer = setInterval(() => response.write(' '), 5);
        response.on('close', () => {
          clearInterval(timer);
          closed = true;
        });
        return true;
      };
      expect(await worker.run(plan)).toMatchObject({ envelope: { error: { code: 'timeout' } } });
      await until('it was hung up on', () => closed);
    },
  );

  it('that redirects elsewhere is not followed, and its credentials stay with it', {
    ...promise('G145'),
  }, async () => {
    const other = await startMcpServer(() => kitServer(mcpLedger()));
    const { worker, http } = await kit(startMcpServer, {
      token: 'tok_secret_1',
      headers: { 'x-key': 'key_secret_1' },
    });
    const plan = await worker.plan('kit.delete');
    http.instead = (_message, response) => {
      response.writeHead(307, { location: other.url }).end();
      return true;
    };
    const end = await worker.run(plan);
    expect(end).toMatchObject({ envelope: { ok: false } });
    expect(other.seen).toEqual([]);
    expect(JSON.stringify([end, worker.logged])).not.toMatch(/(?:tok|key)_secret/);
  });

  it(
    'that lists pages without an end has no tools, and its turn continues',
    promise('G156'),
    async () => {
      const { worker, http } = await kit();
      let pages = 0;
      http.instead = ({ method, id = 0 }, response) => {
        if (method !== 'tools/list') return false;
        pages += 1;
        const tool = { name: `t${pages}`, inputSchema: { type: 'object' } };
        const cache = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
        const result = { ...cache, tools: [tool], nextCursor: String(pages) };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        return true;
      };
      expect(await worker.tools()).toEqual([]);
      expect(pages).toBe(MAX_MCP_LIST_PAGES);
    },
  );
});

/** Answers a call with an endless line, as long as the other side reads. */
const TALKATIVE = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const talk = () => {
  while (process.stdout.write('x'.repeat(65536)));
  process.stdout.once('drain', talk);
};
let rest = '';
process.stdin.on('end', () => process.exit());
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    const serverInfo = { name: 'own', version: '1' };
    const about = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
    const tools = [{ name: 'talk', inputSchema: { type: 'object' } }];
    if (id === undefined) continue;
    if (method === 'initialize') say({ id, result: about });
    else if (method === 'tools/list') say({ id, result: { tools } });
    else if (method === 'tools/call') talk();
    else say({ id, error: { code: -32601, message: 'not known' } });
  }
});
`;

describe('a process', () => {
  it.each([
    ['idempotent', 'tool_retry'],
    ['once', undefined],
  ] as const)(
    'that writes an endless line is stopped, and with effects %s counts as lost',
    promise('G156'),
    async (effects, failure) => {
      const [command, args] = [process.execPath, ['-e', TALKATIVE]];
      const server = mcpServer({ name: 'own', command, args, effects });
      const worker = mcpWorker({ mcpServers: [server] });
      const plan = await worker.plan('own.talk');
      const end = await worker.run(plan).catch((error: unknown) => error);
      if (failure === undefined)
        expect(end).toMatchObject({ envelope: { error: { code: 'outcome_unknown' } } });
      else expect(end).toMatchObject({ type: failure });
    },
  );
});

describe('a worker that stops', () => {
  it('ends its session with a server of the older protocol', async () => {
    const { worker, http } = await kit(startOldMcpServer);
    await worker.tools();
    await worker.mcp.close();
    const [end] = http.seen.filter(({ verb }) => verb === 'DELETE');
    expect(end?.headers['mcp-session-id']).toEqual(expect.stringMatching(/./));
  });

  it('does not wait for a server that does not respond', async () => {
    const { worker, http } = await kit(startOldMcpServer);
    await worker.tools();
    http.instead = () => true;
    await worker.mcp.close();
    expect(http.seen.at(-1)?.verb).toBe('DELETE');
  });
});
