/** Documents of agents, and documents in files: warnings, and one report of all faults. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hsafaAgents, loadHsafaFile } from '../../../../src/compat/hsafa/index.js';
import { openaiModel } from '../../../../src/index.js';
import { script } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { faultsOf } from '../../define/tool/faults.js';

const url = 'https://api.example.com/x';
const whole = {
  ...{ name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties: {} } },
};

describe('an agent document', () => {
  const agent = { name: 'dev', instructions: 'Help.', model: 'gpt-5-mini' };
  const made = (document: object, options: { strict?: boolean } = {}) =>
    hsafaAgents({ ...agent, ...document }, { model: openaiModel, spaces: false, ...options });

  it(
    'is an agent that makes its calls one after the other, and whose model reads bare results',
    promise('2.H.1'),
    () => {
      const tools = [{ ...whole, executionType: 'external' }];
      const { agents, warnings } = made({ tools, description: 'Develops.' });
      expect(warnings).toEqual([]);
      expect(agents).toMatchObject([
        {
          ...{ kind: 'agent', name: 'dev', description: 'Develops.', instructions: 'Help.' },
          ...{ resultForm: 'bare', model: { name: 'gpt-5-mini' }, tools: [{ name: 'find' }] },
          settings: {
            ...{ toolExecution: 'sequential', onBusy: 'queue' },
            // A cycle keeps the inbox that it began with, and cycles per minute are bounded.
            inbox: { whileBusy: 'next_turn', rate: { turns: 30, perMs: 60_000 } },
          },
        },
      ]);
      expect(agents[0]?.settings).not.toHaveProperty('whileWaiting');
    },
  );

  it.each<[string, object, readonly string[]]>([
    ['without instructions', { instructions: undefined }, ['instructions']],
    ['with both instructions and systemPrompt', { systemPrompt: 'x' }, ['systemPrompt']],
    ['with a name that no agent may have', { name: 'a b' }, ['name']],
    ['without a model', { model: undefined }, ['model']],
    [
      'with a server over stdio',
      { mcp: { servers: [{ name: 'a', url, transport: 'stdio' }] } },
      ['mcp.servers[0].transport'],
    ],
    [
      'with a server without an address',
      { mcp: { servers: [{ name: 'a' }] } },
      ['mcp.servers[0].url'],
    ],
    [
      'with an empty allow-list',
      { mcp: { servers: [{ name: 'a', url, allowedTools: [] }] } },
      ['mcp.servers[0].allowedTools'],
    ],
    ['with a tool that it names and that is nowhere', { tools: ['find'] }, ['tools[0]']],
    [
      'with faults of its tools, and a tool twice',
      {
        tools: [
          { executionType: 'space' },
          { ...whole, executionType: 'space' },
          { ...whole, executionType: 'space' },
        ],
      },
      ['tools[0].name', 'tools[2]'],
    ],
    [
      'with faults of its own and of several tools',
      {
        model: 7,
        tools: [{ executionType: 'space' }, { executionType: 'gateway' }, { ...whole, timeout: 0 }],
      },
      [
        'model',
        'tools[0].name',
        'tools[1].name',
        'tools[1].execution.url',
        'tools[2].executionType',
        'tools[2].timeout',
      ],
    ],
  ])('%s is refused by its path', (_title, document, paths) => {
    expect(Object.keys(faultsOf(() => made(document)))).toEqual(paths);
  });

  it('with a credential of an MCP server is refused by its path', promise('G403'), () => {
    const headers = { 'X-Api-Key': 'abc', 'X-Forward': 'Bearer abc', 'X-Team': 'pm' };
    const tools = [
      {
        ...{ ...whole, executionType: 'gateway' },
        execution: { url, headers: { Authorization: 'Bearer abc' } },
      },
    ];
    const faults = faultsOf(() => made({ tools, mcp: { servers: [{ name: 'a', url, headers }] } }));
    expect(Object.keys(faults)).toEqual([
      'tools[0].execution.headers.Authorization',
      'mcp.servers[0].headers.X-Api-Key',
      'mcp.servers[0].headers.X-Forward',
    ]);
    expect(faults['mcp.servers[0].headers.X-Api-Key']).toMatch(/left out.*option mcp/);
    // Nothing reads the others either.
    const harmless = { mcp: { servers: [{ name: 'a', url, headers: { 'X-Team': 'pm' } }] } };
    expect(made(harmless).warnings).toMatchObject([{ path: 'mcp.servers[0].headers' }]);
  });

  it('whose model is not found is refused with the reason', () => {
    const model = (): never => {
      throw new Error('no such model');
    };
    expect(faultsOf(() => hsafaAgents(agent, { model }))).toEqual({ model: 'no such model' });
  });

  it('with another field is taken with a warning, and refused where strict', () => {
    expect(made({ temperature: 1 }).warnings).toMatchObject([{ path: 'temperature' }]);
    expect(Object.keys(faultsOf(() => made({ temperature: 1 }, { strict: true })))).toEqual([
      'temperature',
    ]);
  });
});

describe('documents in files', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hsafa-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const write = (name: string, value: unknown): void => {
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
  };
  const options = { model: () => script(), spaces: false, onWarning: () => undefined } as const;

  it('are agents and the tools that they name, from one file or a folder', promise('H5'), () => {
    write('tools.json', [{ ...whole, executionType: 'external' }]);
    write('dev.json', { name: 'dev', instructions: 'Help.', model: 'm', tools: ['find'] });
    write('notes.txt', 'no document');
    const { agents, tools } = loadHsafaFile(folder, options);
    expect(agents).toMatchObject([{ name: 'dev', tools: [{ name: 'find' }] }]);
    expect(tools).toMatchObject([{ name: 'find' }]);
    const alone = { name: 'ops', instructions: 'Help.', model: 'm' };
    write('ops.json', alone);
    expect(loadHsafaFile(join(folder, 'ops.json'), options).agents).toMatchObject([
      { name: 'ops' },
    ]);
  });

  it('are refused with one report that names file and place', () => {
    write('a.json', '{');
    write('b.json', [{ ...whole, executionType: 'gateway' }, { name: 'dev' }]);
    write('c.json', ' '.repeat(1024 * 1024 + 1));
    const faults = faultsOf(() => loadHsafaFile(folder, options));
    expect(Object.keys(faults)).toEqual([
      'a.json',
      'c.json',
      'b.json: [0].execution.url',
      'b.json: [1].model',
      'b.json: [1].instructions',
    ]);
  });

  it('report each warning, and return them', () => {
    const seen: string[] = [];
    write('t.json', { name: 'find', executionType: 'external' });
    const { warnings } = loadHsafaFile(folder, {
      ...options,
      onWarning: ({ path }) => seen.push(path),
    });
    expect(seen).toEqual(['t.json: description', 't.json: inputSchema']);
    expect(warnings.map(({ path }) => path)).toEqual(seen);
  });
});
