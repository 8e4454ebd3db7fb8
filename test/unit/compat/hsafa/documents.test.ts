/** Documents of tools and agents: defaults, choices with their warnings, and one report of all faults. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type HsafaOptions,
  hsafaAgents,
  hsafaTools,
  loadHsafaFile,
} from '../../../../src/compat/hsafa/index.js';
import { DefinitionError, openaiModel } from '../../../../src/index.js';
import { script } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { envelopeOf, json, startPeer } from '../../../support/servers/http-peer.js';

const url = 'https://api.example.com/x';
const whole = {
  ...{ name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties: {} } },
};
const tool = (document: object, options: HsafaOptions = {}) => {
  const { tools, warnings } = hsafaTools({ ...whole, ...document }, options);
  return { ...tools[0], warnings };
};

/** The faults by their paths. */
function faultsOf(make: () => unknown): Record<string, string> {
  try {
    make();
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return Object.fromEntries(error.problems.map(({ field, rule }) => [field, rule]));
  }
  return {};
}

describe('a tool document', () => {
  it.each<[string, object, object]>([
    ['internal', { executionType: 'internal' }, { executor: 'internal' }],
    [
      'internal, with a URL',
      { executionType: 'internal', execution: { url } },
      { executor: 'internal' },
    ],
    ['internal and async', { executionType: 'internal', isAsync: true }, { executor: 'internal' }],
    ['gateway', { executionType: 'gateway', execution: { url } }, { executor: 'server' }],
    [
      'external with a URL',
      { executionType: 'external', execution: { url } },
      { executor: 'server' },
    ],
    ['space with a URL', { executionType: 'space', execution: { url } }, { executor: 'server' }],
    [
      'space with a URL and async',
      { executionType: 'space', isAsync: true, execution: { url } },
      { executor: 'server', mode: 'await' },
    ],
    [
      'external and async',
      { executionType: 'external', isAsync: true },
      { executor: 'external', mode: 'detach', lateResult: 'inbox' },
    ],
    [
      'space and async',
      { executionType: 'space', isAsync: true },
      { executor: 'human', mode: 'detach' },
    ],
    [
      'external',
      { executionType: 'external' },
      { executor: 'external', mode: 'await', lateResult: 'inbox', timeouts: { answerMs: 30_000 } },
    ],
    [
      'space',
      { executionType: 'space', timeout: 5_000 },
      { executor: 'human', mode: 'await', lateResult: 'inbox', timeouts: { answerMs: 5_000 } },
    ],
  ])(
    'that is %s becomes a tool by the order internal, URL, async, wait',
    promise('H8', 'H24'),
    (_title, document, made) => {
      expect(tool(document)).toMatchObject(made);
    },
  );

  it.each([
    ['internal', false],
    ['external', true],
    ['space', true],
    ['gateway', true],
  ])(
    'of type %s has visible %s by default, as metadata that the engine does not read',
    (executionType, visible) => {
      const execution = executionType === 'gateway' ? { execution: { url } } : {};
      expect(tool({ executionType, ...execution }).metadata).toEqual({ visible });
      const other = { executionType, ...execution, visible: !visible };
      expect(tool(other).metadata).toEqual({ visible: !visible });
    },
  );

  it('sends POST with its headers and the arguments as JSON, bounded by its timeout', {
    ...promise('H12', 'H15'),
  }, async () => {
    await using peer = await startPeer(json({ ok: 1 }));
    const { tools } = hsafaTools(
      {
        ...{ ...whole, inputSchema: { type: 'object' }, executionType: 'gateway', timeout: 7_000 },
        execution: {
          url: `${peer.url}/do`,
          headers: {
            'X-Team': 'pm',
            'X-Api-Key': { secret: 'PM_KEY' },
            Authorization: { secret: 'PM', prefix: 'Bearer ' },
          },
        },
      },
      { allowPrivate: true, secret: (name) => () => `value-of-${name}` },
    );
    const [made] = tools;
    if (made === undefined) throw new Error('unreachable');
    expect(await envelopeOf(made, { input: { q: 1 } })).toEqual({ ok: true, result: { ok: 1 } });
    expect(made.declaredTimeouts).toEqual({ runMs: 7_000 });
    expect(peer.requests).toMatchObject([
      {
        ...{ method: 'POST', target: '/do', body: '{"q":1}' },
        headers: {
          ...{ 'x-team': 'pm', 'x-api-key': 'value-of-PM_KEY' },
          authorization: 'Bearer value-of-PM',
        },
      },
    ]);
  });

  it.each<[string, object, string]>([
    ['without a description', { executionType: 'external', description: undefined }, 'description'],
    [
      'without an inputSchema',
      { executionType: 'external', inputSchema: undefined },
      'inputSchema',
    ],
    ['with an empty inputSchema', { executionType: 'external', inputSchema: {} }, 'inputSchema'],
    [
      'async with a URL',
      { executionType: 'gateway', isAsync: true, execution: { url } },
      'isAsync',
    ],
    ['async with a timeout', { executionType: 'space', isAsync: true, timeout: 1_000 }, 'timeout'],
    ['internal with a timeout', { executionType: 'internal', timeout: 1_000 }, 'timeout'],
    ['internal and async', { executionType: 'internal', isAsync: true }, 'isAsync'],
    ['internal with a URL', { executionType: 'internal', execution: { url } }, 'execution'],
    [
      'with headers and no URL',
      { executionType: 'external', execution: { headers: {} } },
      'execution',
    ],
    ['with another field', { executionType: 'external', display: { customUI: 'x' } }, 'display'],
    [
      'with another field of its execution',
      { executionType: 'gateway', execution: { url, cache: true } },
      'execution.cache',
    ],
    [
      'with a header that looks like a credential',
      { executionType: 'gateway', execution: { url, headers: { 'x-api-key': 'abc' } } },
      'execution.headers.x-api-key',
    ],
    [
      'with a credential in its query',
      { executionType: 'gateway', execution: { url: `${url}?api_key=abc` } },
      'execution.url',
    ],
  ])('%s is taken with a warning, and refused where strict', (_title, document, path) => {
    const { executor, warnings } = tool(document);
    expect(executor).toBeDefined();
    expect(warnings.map((warning) => warning.path)).toEqual([path]);
    expect(Object.keys(faultsOf(() => tool(document, { strict: true })))).toEqual([path]);
  });

  it('without description and inputSchema has its name and an open object in their place', () => {
    const { tools } = hsafaTools({ name: 'find', executionType: 'external' });
    expect(tools).toMatchObject([{ description: 'find', inputSchema: { type: 'object' } }]);
  });

  it.each<[string, object, string, RegExp]>([
    ['gateway without a URL', { executionType: 'gateway' }, 'execution.url', /is required/],
    [
      'of no known type',
      { executionType: 'code' },
      'executionType',
      /gateway, external, space, int/,
    ],
    ['of no type', {}, 'executionType', /is required/],
    [
      'with half a millisecond',
      { executionType: 'space', timeout: 0.5 },
      'timeout',
      /whole number/,
    ],
    ['without time', { executionType: 'space', timeout: 0 }, 'timeout', /at least 1/],
    ['with endless time', { executionType: 'space', timeout: 1e14 }, 'timeout', /./],
    ['with a name that models reject', { executionType: 'space', name: 'a b' }, 'name', /./],
    [
      'with a schema of texts',
      { executionType: 'space', inputSchema: { type: 'string' } },
      'inputSchema',
      /object/,
    ],
    [
      'with an unknown method',
      { executionType: 'gateway', execution: { url, method: 'BREW' } },
      'execution.method',
      /GET/,
    ],
    [
      'with a relative URL',
      { executionType: 'gateway', execution: { url: '...' } },
      'execution.url',
      /absolute/,
    ],
    [
      'with a credential in Authorization',
      { executionType: 'gateway', execution: { url, headers: { Authorization: 'Bearer abc' } } },
      'execution.headers.Authorization',
      /secret/,
    ],
    [
      'with a number for a header',
      { executionType: 'gateway', execution: { url, headers: { 'x-n': 1 } } },
      'execution.headers.x-n',
      /text or \{secret/,
    ],
    [
      'with a text for visible',
      { executionType: 'space', visible: 'yes' },
      'visible',
      /true or false/,
    ],
  ])('%s is refused by its path', (_title, document, path, rule) => {
    expect(faultsOf(() => tool(document))[path]).toMatch(rule);
  });

  it(
    'is reported with all faults of all documents of a list, each by its path',
    promise('H5'),
    () => {
      const documents = [
        { executionType: 'gateway', timeout: 'soon' },
        'no document',
        { ...whole, executionType: 'gateway' },
        { ...whole, executionType: 'space' },
        { ...whole, name: 'a b', executionType: 'external', timeout: 1e14 },
      ];
      expect(Object.keys(faultsOf(() => hsafaTools(documents)))).toEqual([
        '[0].name',
        '[0].timeout',
        '[1]',
        '[2].execution.url',
        '[4].name',
        '[4].timeout',
        '[3].name',
      ]);
    },
  );

  it('of a list that is too long is refused without being read further', () => {
    const documents = Array.from({ length: 1_001 }, () => null);
    expect(Object.keys(faultsOf(() => hsafaTools(documents)))).toHaveLength(1_001);
  });

  it('of any JSON is taken or refused by a report, and nothing else is thrown', () => {
    const fields = fc.record(
      {
        name: fc.oneof(fc.string(), fc.constant('find')),
        executionType: fc.oneof(fc.string(), fc.constantFrom('gateway', 'space', 'internal')),
        inputSchema: fc.jsonValue(),
        visible: fc.jsonValue(),
        timeout: fc.jsonValue(),
        execution: fc.oneof(
          fc.jsonValue(),
          fc.record({
            url: fc.constantFrom(url, 'x'),
            headers: fc.dictionary(fc.string(), fc.jsonValue()),
          }),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fields, fc.array(fields)), (document) => {
        faultsOf(() => hsafaTools(document));
        faultsOf(() => hsafaAgents(document, { model: () => script() }));
      }),
      { numRuns: 300 },
    );
  });
});

describe('an agent document', () => {
  const agent = { name: 'dev', instructions: 'Help.', model: 'gpt-5-mini' };
  const made = (document: object, options: { strict?: boolean } = {}) =>
    hsafaAgents({ ...agent, ...document }, { model: openaiModel, ...options });

  it('is an agent that makes its calls one after the other, and whose model reads bare results', () => {
    const tools = [{ ...whole, executionType: 'external' }];
    const { agents, warnings } = made({ tools, description: 'Develops.' });
    expect(warnings).toEqual([]);
    expect(agents).toMatchObject([
      {
        ...{ kind: 'agent', name: 'dev', description: 'Develops.', instructions: 'Help.' },
        ...{ resultForm: 'bare', model: { name: 'gpt-5-mini' }, tools: [{ name: 'find' }] },
        settings: { toolExecution: 'sequential', onBusy: 'queue' },
      },
    ]);
    expect(agents[0]?.settings).not.toHaveProperty('whileWaiting');
  });

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
  ])('%s is refused by its path', (_title, document, paths) => {
    expect(Object.keys(faultsOf(() => made(document)))).toEqual(paths);
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
  const options = { model: () => script(), onWarning: () => undefined };

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
