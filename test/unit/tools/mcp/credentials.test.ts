/** Secrets in headers of requests to an MCP server, which results must not have; the test sends none. */
import { expect, it } from 'vitest';
import { mcpServer } from '../../../../src/define/mcp-server.js';
import { fetchWithCredentials } from '../../../../src/tools/mcp/session/credentials.js';
import { Redactor } from '../../../../src/tools/shared/redact.js';
import { scopesOf } from '../../../support/builders/scopes.js';

const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

it('a secret of the caller is known by itself, however a header has it', async () => {
  const secrets = new Redactor();
  const server = mcpServer({
    name: 'kit',
    url: 'https://mcp.example.com',
    headers: async ({ secret }) => ({ 'X-Sign': `key=${await secret('github')};v=1` }),
  });
  const send = fetchWithCredentials(
    {
      ...{ server, logger, secrets, scopes: scopesOf({}, () => 'sec_ret_of_acme') },
      caller: { tenant: 'acme' },
    },
    (_to, init) => Promise.resolve(new Response(new Headers(init?.headers).get('x-sign'))),
  );
  expect(await (await send('https://mcp.example.com')).text()).toBe('key=sec_ret_of_acme;v=1');
  expect(secrets.text('You sent sec_ret_of_acme.')).toBe('You sent [redacted].');
});
