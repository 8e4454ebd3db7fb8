/** Documents of tools: defaults, choices with their warnings, and one report of all faults. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HsafaOptions, hsafaAgents, hsafaTools } from '../../../../src/compat/hsafa/index.js';
import { script } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { envelopeOf, json, startPeer } from '../../../support/servers/http-peer.js';
import { faultsOf } from '../../define/tool/faults.js';

const url = 'https://api.example.com/x';
const whole = {
  ...{ name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties: {} } },
};
const tool = (document: object, options: HsafaOptions = {}) => {
  const { tools, warnings } = hsafaTools({ ...whole, ...document }, options);
  return { ...tools[0], warnings };
};

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
    promise('S24', 'H8', 'H24'),
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
    ...promise('H12', 'H15', '2.H.4'),
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
      'with a header whose value looks like a credential',
      { executionType: 'gateway', execution: { url, headers: { 'x-forward': 'Bearer abc' } } },
      'execution.headers.x-forward',
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

  const CARRIERS = [
    ...['Authorization', 'Proxy-Authorization', 'Cookie', 'X-Api-Key', 'api-key', 'apikey'],
    ...['X-Auth-Token', 'X_ACCESS_TOKEN', 'x-accesstoken', 'X-Amz-Security-Token', 'Client-Secret'],
    ...['X-Password', 'x.key', 'X-Auth', 'Ocp-Apim-Subscription-Key', 'X-Key-Id', 'X-Credentials'],
  ];
  it.each(CARRIERS)('is refused with a text in the header %s', promise('G403'), (name) => {
    const document = (value: unknown) => ({
      ...{ executionType: 'gateway', execution: { url, headers: { [name]: value } } },
    });
    expect(faultsOf(() => tool(document('abc')))).toEqual({
      [`execution.headers.${name}`]:
        'must be {"secret": "NAME", "prefix"?}: a document must not contain credentials',
    });
  });

  it('is taken with references to secrets in these headers', promise('G403'), () => {
    // The request itself has that of a proxy.
    const names = CARRIERS.filter((name) => name !== 'Proxy-Authorization');
    for (const secret of [{ secret: 'PM' }, { secret: 'PM', prefix: 'Bearer ' }]) {
      const headers = Object.fromEntries(names.map((name) => [name, secret]));
      expect(tool({ executionType: 'gateway', execution: { url, headers } }).warnings).toEqual([]);
    }
  });

  it.each(['internal', 'external', 'space'])(
    'of type %s is refused with a credential in headers that it does not send',
    promise('G403'),
    (executionType) => {
      const execution = { headers: { 'X-Api-Key': 'abc' } };
      expect(faultsOf(() => tool({ executionType, execution }))).toMatchObject({
        'execution.headers.X-Api-Key': expect.stringMatching(/credentials/) as string,
      });
    },
  );

  it.each(['X-Team', 'X-Keyboard', 'Accept', 'Idempotency-Key', 'X-Authored-By', 'X-Monkey'])(
    'is taken with a text in the header %s',
    (name) => {
      const execution = { url, headers: { [name]: 'abc' } };
      expect(tool({ executionType: 'gateway', execution }).warnings).toEqual([]);
    },
  );

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
        '[0].execution.url',
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
