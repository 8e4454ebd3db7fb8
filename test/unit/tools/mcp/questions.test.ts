/** Requests for input of MCP servers as questions of a call, and answers on their way back. */
import { describe, expect, it } from 'vitest';
import {
  openFirst,
  pushedKey,
  questionOf,
  requestOf,
  requestsOf,
  settledState,
} from '../../../../src/tools/mcp/session/questions.js';
import { promise } from '../../../support/promise.js';

const FORM = {
  type: 'object',
  properties: { branch: { type: 'string' }, force: { type: 'boolean', default: false } },
  required: ['branch'],
} as const;
const elicit = (params: object) => ({ method: 'elicitation/create', params });

describe('requests for input', () => {
  it('are taken in the server’s order, forms and links', () => {
    const requests = requestsOf({
      one: elicit({ message: 'Which?', requestedSchema: { $schema: 'x', ...FORM } }),
      two: elicit({ mode: 'url', message: 'Log in', url: 'https://id.example.com/a?b=c' }),
    });
    expect(requests).toEqual([
      ['one', { mode: 'form', message: 'Which?', schema: FORM }],
      ['two', { mode: 'url', message: 'Log in', url: 'https://id.example.com/a?b=c' }],
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ['sampling', { a: { method: 'sampling/createMessage' } }, /sampling\/createMessage/],
    ['no form', { a: elicit({ message: 'x' }) }, /without a form/],
    ['a script as a link', { a: elicit({ mode: 'url', url: 'javascript:alert(1)' }) }, /http/],
    ['no link', { a: elicit({ mode: 'url', url: 'login' }) }, /http/],
    [
      'a pattern that cannot be judged in linear time',
      {
        a: elicit({
          message: 'x',
          requestedSchema: { type: 'object', properties: { a: { pattern: '(a)\\1' } } },
        }),
      },
      /form\/properties\/a\/pattern: the pattern cannot be matched in linear time/,
    ],
    ['a list', [], /not an object/],
    ['nothing', { a: null }, /undefined/],
  ])('that cannot be asked are refused: %s', promise('G274'), (_what, requests, problem) => {
    expect(requestsOf(requests)).toMatchObject({
      problem: expect.stringMatching(problem) as string,
    });
  });

  it('always name the server, and the target of a link', () => {
    const form = requestOf({ message: 'Which?', requestedSchema: FORM });
    const link = requestOf({ mode: 'url', message: 'Log in', url: 'https://id.example.com/a' });
    if ('problem' in form || 'problem' in link) throw new Error('refused');
    expect(questionOf('github', form)).toEqual({
      form: FORM,
      reason: 'Which? (asked by the MCP server "github")',
    });
    const asked = questionOf('github', link);
    expect(asked.reason).toBe('Open id.example.com: Log in (asked by the MCP server "github")');
    expect(asked.form).toMatchObject({
      title: 'Open id.example.com',
      properties: { url: { const: 'https://id.example.com/a' } },
      required: ['url'],
    });
    const long = questionOf('github', { mode: 'form', message: 'x'.repeat(9_000), schema: FORM });
    expect(long.reason).toHaveLength(2_000);
    expect(long.reason).toMatch(/asked by the MCP server "github"\)$/);
  });
});

describe('answers', () => {
  const state = (requests: Parameters<typeof openFirst>[0]) => {
    const opened = openFirst(requests, { kind: 'resume', answered: [], requestState: 'opaque' });
    return JSON.parse(JSON.stringify(opened?.state)) as unknown;
  };
  const form = ['one', { mode: 'form', message: '', schema: FORM }] as const;
  const link = ['two', { mode: 'url', message: '', url: 'https://a.example' }] as const;

  it('carry the defaults of the form', () => {
    expect(settledState(state([form]), { answer: { branch: 'main' } })).toEqual({
      kind: 'resume',
      requestState: 'opaque',
      answered: [['one', { action: 'accept', content: { branch: 'main', force: false } }]],
      waiting: [],
    });
  });

  it('to a link are consent and no more', () => {
    expect(settledState(state([link]), { answer: { url: 'https://a.example' } })?.answered).toEqual(
      [['two', { action: 'accept' }]],
    );
  });

  it('that were refused are sent as declined', () => {
    expect(settledState(state([form]), { answer: undefined })?.answered).toEqual([
      ['one', { action: 'decline' }],
    ]);
  });

  it('wait for the next of several', () => {
    expect(settledState(state([form, link]), { answer: { branch: 'x' } })?.waiting).toEqual([link]);
  });

  it('without a state of the engine are none', () => {
    for (const foreign of [undefined, null, 'x', {}, { kind: 'resume', open: {} }])
      expect(settledState(foreign, { answer: {} })).toBeUndefined();
  });
});

describe('a pushed question', () => {
  it('is recognised by its place and form, with any words', () => {
    const of = (message: string) => ({ mode: 'form', message, schema: FORM }) as const;
    expect(pushedKey(1, of('at 10:00'))).toBe(pushedKey(1, of('at 10:05')));
    expect(pushedKey(1, of('a'))).not.toBe(pushedKey(2, of('a')));
    expect(pushedKey(1, of('a'))).not.toBe(
      pushedKey(1, { mode: 'form', message: 'a', schema: { type: 'object' } }),
    );
  });
});
