/** URL templates under hostile templates and hostile values. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillUrl, parseUrlTemplate } from '../../../../src/define/tool/url-template.js';
import { promise } from '../../../support/promise.js';

function templateOf(text: string) {
  const parsed = parseUrlTemplate(text);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.template;
}

function filled(text: string, values: Readonly<Record<string, unknown>>): string {
  const template = templateOf(text);
  const url = fillUrl(template, values);
  return url.ok ? `${template.origin}${url.path}?${url.query}` : url.problem;
}

describe('a URL template', () => {
  it('has its parameters in path and query, each URL-encoded', () => {
    const text = 'https://api.example.com:8443/a/{id}/b-{n}.json?exact={flag}&q={text}';
    expect(templateOf(text).params).toEqual(['id', 'n', 'flag', 'text']);
    expect(filled(text, { id: 'x/y?z#&%', n: 1.5, flag: true, text: 'a&b=c d' })).toBe(
      'https://api.example.com:8443/a/x%2Fy%3Fz%23%26%25/b-1.5.json?exact=true&q=a%26b%3Dc%20d',
    );
  });

  it.each([
    ['no absolute URL', '/orders/{id}', 'must be an absolute URL'],
    ['another scheme', 'file:///etc/passwd', 'must begin with https:// or http://'],
    ['a script', 'javascript://x/%0aalert(1)', 'must begin with https:// or http://'],
    ['credentials', 'https://user:pass@example.com/', 'must hold no name or password'],
    ['a parameter for its host', 'https://{tenant}.example.com/', 'has a parameter in its host'],
    ['a parameter for its port', 'https://example.com:{port}/', 'has a parameter in its host'],
    ['no host', 'https:///x', 'has no valid host'],
    ['a backslash', 'https://example.com\\evil.example/', 'has no valid host'],
    ['a space', 'https://example.com/a b', 'must be URL-encoded'],
    ['a line end', 'https://example.com/a\r\nX: y', 'must be URL-encoded'],
    ['a half escape', 'https://example.com/%4', 'must be URL-encoded'],
    ['a fragment', 'https://example.com/#x', 'has a fragment'],
    ['dots', 'https://example.com/a/../b', 'which changes the path'],
    ['encoded dots', 'https://example.com/a/%2E%2e/b', 'which changes the path'],
    ['a parameter without a name', 'https://example.com/{}', 'that names no field'],
    ['a parameter of code', 'https://example.com/{a.b}', 'that names no field'],
    ['an open brace', 'https://example.com/{a', 'must be URL-encoded'],
  ])('with %s is refused', (_what, text, rule) => {
    const parsed = parseUrlTemplate(text);
    expect(parsed.ok ? 'accepted' : parsed.problems.join('; ')).toContain(rule);
  });

  it('lists every fault', () => {
    const parsed = parseUrlTemplate('ftp://a@b/{}/../c d#x');
    expect(parsed.ok ? [] : parsed.problems).toHaveLength(6);
  });
});

describe('a value for the path', () => {
  it.each([
    ['..', 'a path segment of dots'],
    ['.', 'a path segment of dots'],
    ['../admin', 'a path segment of dots'],
    ['a/../../admin', 'a path segment of dots'],
    ['..\\admin', 'a path segment of dots'],
    ['%2e%2e', 'a path segment of dots'],
    ['x%2f..%2Fadmin', 'a path segment of dots'],
    ['', 'must not be empty'],
    ['a\r\nHost: evil.example', 'no control characters'],
    ['a\u0000b', 'no control characters'],
    ['\ud800', 'not well-formed'],
    [undefined, 'must be a text, a number or a truth value'],
    [null, 'must be a text, a number or a truth value'],
    [['a'], 'must be a text, a number or a truth value'],
    [{ toString: 'x' }, 'must be a text, a number or a truth value'],
    [Number.NaN, 'must be a text, a number or a truth value'],
  ])('such as %j is refused', (id, rule) => {
    expect(filled('https://example.com/orders/{id}', { id })).toContain(rule);
    expect(filled('https://example.com/orders/{id}', { id })).toContain('id ');
  });

  it('cannot make dots with the text beside it', () => {
    expect(filled('https://example.com/a/.{x}', { x: '.b' })).toBe('https://example.com/a/..b?');
    expect(filled('https://example.com/a/%2e{x}{y}/z', { x: 'b', y: '-' })).toContain('%2eb-');
    expect(filled('https://example.com/a/{x}/z', { x: '...' })).toContain('/.../');
  });

  it('of any kind leaves scheme, host, port and the depth of the path as they are', {
    ...promise('G135'),
  }, () => {
    const text = 'https://api.example.com:8443/v1/{a}/items/{b}?q={c}';
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'f', '@', ':', '#', '?') }),
      fc.double(),
      fc.boolean(),
    );
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        const template = templateOf(text);
        const result = fillUrl(template, { a, b, c });
        if (!result.ok) return;
        const url = new URL(`${template.origin}${result.path}?${result.query}`);
        expect(url.origin).toBe('https://api.example.com:8443');
        expect(url.pathname).toBe(result.path);
        const segments = url.pathname.split('/');
        expect(segments).toHaveLength(5);
        expect([segments[1], segments[3]]).toEqual(['v1', 'items']);
        expect(decodeURIComponent(segments[2] ?? '')).toBe(String(a));
        expect([...url.searchParams.keys()]).toEqual(['q']);
        expect(url.hash).toBe('');
      }),
      { numRuns: 200 },
    );
  });
});
