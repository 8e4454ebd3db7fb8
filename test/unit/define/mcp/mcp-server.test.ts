/** Declarations of MCP servers: the valid ones, and the error for every broken rule. */
import { describe, expect, it } from 'vitest';
import { DefinitionError } from '../../../../src/define/checks/problems.js';
import { defineAgent, manifestOf } from '../../../../src/define/define-agent.js';
import type { McpServerSpec } from '../../../../src/define/mcp/spec.js';
import { mcpServer } from '../../../../src/define/mcp-server.js';
import { script } from '../../../../src/model/scripted/scripted.js';

const URL_OF = 'https://mcp.example.com/mcp';

function problemsOf(spec: unknown): readonly string[] {
  try {
    mcpServer(spec as McpServerSpec);
    return [];
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return error.problems.map(({ field }) => field);
  }
}

const agentWith = (mcpServers: unknown, more: object = {}) =>
  defineAgent({
    name: 'support',
    model: script(),
    instructions: 'Help.',
    mcpServers: mcpServers as [],
    ...more,
  });

describe('a declaration of an MCP server', () => {
  it('is reached by HTTP or as a process, as it declares', () => {
    expect(mcpServer({ name: 'github', url: URL_OF }).transport).toEqual({
      type: 'http',
      url: URL_OF,
    });
    expect(mcpServer({ name: 'files', command: 'mcp-files', args: ['/srv'] }).transport).toEqual({
      type: 'stdio',
      command: 'mcp-files',
      args: ['/srv'],
    });
  });

  it.each<[string, object, readonly string[]]>([
    ['neither url nor command', {}, ['url']],
    ['both url and command', { url: URL_OF, command: 'x' }, ['url']],
    ['a transport that the rest contradicts', { url: URL_OF, transport: 'stdio' }, ['transport']],
    ['a transport that is gone', { url: URL_OF, transport: 'sse' }, ['transport']],
    ['what belongs to the other transport', { url: URL_OF, env: {} }, ['env']],
    ['no address', { url: 'mcp.example.com' }, ['url']],
    ['another scheme', { url: 'file:///etc/passwd' }, ['url']],
    ['credentials in the address', { url: 'https://ann:pw@mcp.example.com/' }, ['url']],
    ['an empty token', { url: URL_OF, token: '' }, ['token']],
    ['headers that are no texts', { url: URL_OF, headers: { a: 1 } }, ['headers']],
    ['no tool allowed', { url: URL_OF, allowedTools: [] }, ['allowedTools']],
    ['an unknown gate', { url: URL_OF, approval: 'sometimes' }, ['approval']],
    ['unknown effects', { url: URL_OF, effects: { a: 'twice' } }, ['effects.a']],
    [
      'clocks that are none',
      { url: URL_OF, timeouts: { run: 'soon', claim: 1 } },
      ['timeouts.claim', 'timeouts.run'],
    ],
    ['an empty identity', { url: URL_OF, token: () => 't', identity: 'agent' }, ['identity']],
    [
      'an identity with one token for all',
      { url: URL_OF, token: 't', identity: 'requester' },
      ['identity'],
    ],
    ['a process with an identity', { command: 'x', identity: 'tenant' }, ['identity']],
    ['addresses that are none', { url: URL_OF, allowPrivate: ['a b'] }, ['allowPrivate[0]']],
    ['no list of addresses', { url: URL_OF, allowPrivate: [] }, ['allowPrivate']],
    ['addresses of a process', { command: 'x', allowPrivate: true }, ['allowPrivate']],
    ['an unknown field', { url: URL_OF, tools: [] }, ['tools']],
    ['a bound of results out of range', { url: URL_OF, maxResultBytes: 1 }, ['maxResultBytes']],
    [
      'an unknown way with questions',
      { url: URL_OF, pushedQuestions: 'later' },
      ['pushedQuestions'],
    ],
  ])('with %s names the field', (_what, spec, fields) => {
    expect(problemsOf({ name: 'github', ...spec })).toEqual(fields);
  });

  it.each(['', 'git.hub', 'a__b', '_a', 'x'.repeat(25), 3])('cannot be named %j', (name) => {
    expect(problemsOf({ name, url: URL_OF })).toEqual(['name']);
  });

  it('has all of its faults in one error', () => {
    expect(problemsOf({ name: '', url: 'x', prefix: 1, audience: {} })).toEqual([
      'name',
      'url',
      'prefix',
      'audience',
    ]);
  });
});

describe('an agent', () => {
  it('publishes the names of its servers, and neither addresses nor tokens', () => {
    const server = mcpServer({ name: 'github', url: URL_OF, token: 'ghp_123456' });
    const manifest = manifestOf(agentWith([server]));
    expect(manifest.mcpServers).toEqual([{ name: 'github' }]);
    expect(JSON.stringify(manifest)).not.toMatch(/ghp_|example/);
    expect(manifestOf(agentWith([])).mcpServers).toBeUndefined();
  });

  it('refuses two servers of one name, and values that are no server', () => {
    const server = mcpServer({ name: 'github', url: URL_OF });
    expect(() => agentWith([server, mcpServer({ name: 'github', command: 'x' })])).toThrow(
      /mcpServers\[1\]: duplicate name "github"/,
    );
    expect(() => agentWith([{ name: 'x', url: URL_OF }])).toThrow(
      /mcpServers\[0\]: must come from mcpServer/,
    );
    expect(() => agentWith('github')).toThrow(/mcpServers: must be a list/);
  });

  it('may bound calls of tools that a server will list', () => {
    const server = mcpServer({ name: 'github', url: URL_OF });
    const bounded = (tool: string) => () =>
      agentWith([server], { settings: { budgets: { callsOf: { [tool]: 2 } } } });
    expect(bounded('github.search')).not.toThrow();
    expect(bounded('gitlab.search')).toThrow(/is not one of this agent's tools/);
  });
});
