/** Texts of definitions that UTF-8 cannot encode: refused by field, as the texts of callers are. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { httpTool, jsonSchema, mcpServer } from '../../../../src/index.js';
import { says, scriptedBy } from '../../../../src/model/scripted/scripted.js';
import { promise } from '../../../support/promise.js';
import { agentFaults, faultsOf, toolFaults } from './faults.js';

const HALF = 'a\ud800b';
const RULE = /well-formed Unicode/;

const TOOL = {
  name: 'orders.find',
  description: 'Finds an order.',
  input: z.object({}),
  run: () => 'found',
};
const AGENT = { name: 'shop', model: scriptedBy(() => says('ok')), instructions: 'Be brief.' };

describe('half of a surrogate pair', () => {
  it.each<[field: string, tool: object]>([
    ['name', { name: HALF }],
    ['description', { description: HALF }],
    ['usage', { usage: HALF }],
    ['approval.ask.reason', { approval: { ask: { reason: HALF } } }],
    ['audience.roles.0', { audience: { roles: [HALF] }, approval: 'required' }],
    ['input.properties.id.description', { input: z.object({ id: z.string().describe(HALF) }) }],
    [
      'input.properties.id.enum.0',
      { input: jsonSchema({ type: 'object', properties: { id: { enum: [HALF] } } }) },
    ],
    ['output.description', { output: jsonSchema({ type: 'string', description: HALF }) }],
    [
      'output.description',
      { executor: 'human', run: undefined, output: z.string().describe(HALF) },
    ],
  ])('in %s of a tool is refused', promise('G246'), (field, tool) => {
    expect(toolFaults(TOOL)).toEqual({});
    expect(toolFaults({ ...TOOL, ...tool })[field]).toMatch(RULE);
  });

  it.each<[field: string, agent: object]>([
    ['description', { description: HALF }],
    ['instructions', { instructions: HALF }],
    ['output.description', { output: z.object({}).describe(HALF) }],
  ])('in %s of an agent is refused', promise('G246'), (field, agent) => {
    expect(agentFaults(AGENT)).toEqual({});
    expect(agentFaults({ ...AGENT, ...agent })[field]).toMatch(RULE);
  });

  it('in a field of an HTTP tool or an MCP server is refused', promise('G246'), () => {
    const { run: _run, ...tool } = TOOL;
    const http = { ...tool, method: 'GET', url: 'https://api.example.com' } as const;
    const query = { ...http, fixedQuery: { kind: HALF } };
    expect(faultsOf(() => httpTool(query))['fixedQuery.kind']).toMatch(RULE);
    const server = { name: 'files', command: 'serve-files', args: [HALF] };
    expect(faultsOf(() => mcpServer(server as never))['args.0']).toMatch(RULE);
  });
});
