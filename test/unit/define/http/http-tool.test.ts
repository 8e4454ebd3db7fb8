/** Definitions of tools that are HTTP requests. Scenario S7 for their fields. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { manifestOf } from '../../../../src/define/define-agent.js';
import {
  DefinitionError,
  defineAgent,
  httpTool,
  initColloquy,
  jsonSchema,
  secret,
} from '../../../../src/index.js';
import { script } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const good = {
  name: 'orders.find',
  description: 'Finds an order by its number.',
  input: z.object({ orderId: z.string(), full: z.boolean().optional() }),
  method: 'GET',
  url: 'https://api.example.com/orders/{orderId}',
} as const;

function faultsOf(over: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    httpTool({ ...good, ...over });
    return [];
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return error.problems.map(({ field, rule }) => `${field}: ${rule}`);
  }
}

describe('a definition of an HTTP tool', () => {
  it.each([
    ['method', { method: 'FETCH' }, 'method: must be one of GET, HEAD'],
    ['address (H15)', { url: undefined }, 'url: must be a text'],
    ['relative address', { url: '/orders' }, 'url: must be an absolute URL'],
    ['parameter', { url: 'https://x.example/{id}' }, 'url: {id} is not a field of input'],
    [
      'parameter that may be missing',
      { url: 'https://x.example/{full}' },
      'url: {full} must be a required field of input',
    ],
    ['query', { query: ['ful'] }, 'query: "ful" is not a field of input'],
    ['body of a GET', { body: ['full'] }, 'body: a GET request has none; use query'],
    [
      'field that goes nowhere',
      { query: [] },
      'input: no place in the request takes the fields full',
    ],
    ['type of a body that is not there', { bodyType: 'form' }, 'bodyType: there is no body'],
    ['header name', { headers: { 'a b': 'x' } }, 'headers.a b: must be the name of a header'],
    ['header that is set anyway', { headers: { Host: 'x' } }, 'headers.Host: "Host" is set by'],
    [
      'header with a line end',
      { headers: { 'x-a': 'a\r\nx-b: c' } },
      'headers.x-a: must be printable Latin-1 on one line',
    ],
    [
      'credential in the open',
      { headers: { Authorization: 'Bearer abc' } },
      'headers.Authorization: must be secret(...)',
    ],
    ['header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a: stands there twice'],
    ['secret', { headers: { 'x-a': secret('not a name') } }, 'headers.x-a: secret(...) takes'],
    [
      'prefix of a secret',
      { headers: { 'x-a': secret('KEY', { prefix: 'a\nb' }) } },
      'headers.x-a: the prefix of a secret must be',
    ],
    ['fixed query', { fixedQuery: { key: 1 } }, 'fixedQuery.key: must be a text or secret(...)'],
    ['header for the key', { idempotencyHeader: '' }, 'idempotencyHeader: must be the name of'],
    ['response', { response: 'xml' }, 'response: must be one of json, text, auto'],
    ['statuses', { okStatuses: [99] }, 'okStatuses: must be a list of statuses'],
    ['pointer', { result: 'data.items' }, 'result: must be a JSON Pointer'],
    ['pointer into a text', { response: 'text', result: '/a' }, 'result: a pointer needs response'],
    ['bytes', { maxResponseBytes: 0 }, 'maxResponseBytes: must be a whole number from 1 to'],
    ['redirects', { maxRedirects: 6 }, 'maxRedirects: must be a whole number from 0 to 5'],
    ['allowance', { allowPrivate: false }, 'allowPrivate: must be true or a list'],
    ['range', { allowPrivate: ['10.0.0.0/33'] }, 'allowPrivate[0]: must be an address, a range'],
    ['short address', { allowPrivate: ['127.1'] }, 'allowPrivate[0]: must be an address, a range'],
    ['proxy', { proxy: 'proxy:3128' }, 'proxy: must be "environment"'],
    ['proxy with a password', { proxy: 'http://a:b@proxy' }, 'proxy: has a password'],
    ['run', { run: () => 1 }, 'run: unknown field; known are name,'],
    ['field of another tool', { preflight: () => 1 }, 'preflight: unknown field'],
  ])('with a wrong %s is refused', promise('S7'), (_what, over, rule) => {
    const faults = faultsOf(over);
    expect(faults.some((fault) => fault.startsWith(rule)) ? rule : faults).toBe(rule);
  });

  it('is refused with every broken rule in one report, those of any server tool among them', () => {
    const faults = faultsOf({
      name: 'no name',
      method: 'post',
      url: 'http://{host}/',
      headers: { cookie: 'a=b' },
      effects: 'twice',
      timeouts: { run: 'soon' },
      maxRedirects: -1,
    });
    const fields = faults.map((fault) => fault.split(': ')[0]);
    expect(fields.sort()).toEqual(
      ['effects', 'headers.cookie', 'maxRedirects', 'method', 'name', 'timeouts.run', 'url'].sort(),
    );
  });

  it('cannot be detached: its request is its answer', promise('H15', 'H24', 'S24'), () => {
    expect(faultsOf({ mode: 'detach' })).toEqual([
      'mode: an HTTP tool is answered by its own request, so it cannot be detached',
    ]);
    expect(faultsOf({ mode: 'await' })).toEqual([]);
  });

  it('may leave the fields of its input open', () => {
    const input = jsonSchema({ type: 'object', additionalProperties: true });
    expect(faultsOf({ input, query: ['a'] })).toEqual([]);
  });

  it('may allow addresses, ranges and names', () => {
    const allowPrivate = ['10.0.0.0/8', '::1', 'fd00::/8', '::ffff:10.0.0.1', 'api.internal', 'db'];
    expect(faultsOf({ allowPrivate })).toEqual([]);
  });
});

describe('an HTTP tool', () => {
  it.each([
    ['GET', 'none', 3],
    ['HEAD', 'none', 3],
    ['PUT', 'idempotent', 3],
    ['DELETE', 'idempotent', 3],
    ['POST', 'once', 1],
    ['PATCH', 'once', 1],
  ] as const)(
    'of method %s has the effects "%s" unless it sets others',
    (method, effects, attempts) => {
      const tool = httpTool({ ...good, method });
      expect([tool.effects, tool.maxAttempts, tool.declaresEffects]).toEqual([
        effects,
        attempts,
        true,
      ]);
      expect(httpTool({ ...good, method, effects: 'none' }).effects).toBe('none');
    },
  );

  it('publishes the same as any tool: neither address nor headers', () => {
    const tool = httpTool({
      ...good,
      headers: { authorization: secret('ORDERS_TOKEN'), 'x-plain': 'plain-header' },
    });
    expect([tool.executor, tool.approval, tool.mode]).toEqual([
      'server',
      { needed: false },
      'await',
    ]);
    const agent = defineAgent({ name: 'a', model: script(), instructions: 'Help.', tools: [tool] });
    const shown = JSON.stringify(manifestOf(agent));
    for (const hidden of ['api.example.com', 'ORDERS_TOKEN', 'plain-header'])
      expect(shown).not.toContain(hidden);
  });

  it('knows the services that an application has bound', () => {
    const bound = initColloquy<{ services: { vault: { read(name: string): string } } }>();
    const tool = bound.httpTool({
      ...good,
      output: z.object({ total: z.number() }),
      headers: { authorization: secret((ctx) => ctx.services.vault.read('orders')) },
      result: ({ body }) => ({ total: Number(body) }),
    });
    expect(tool.name).toBe('orders.find');
  });
});
