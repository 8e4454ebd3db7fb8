/** Answers of MCP servers as the model reads them. */
import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../../src/define/context.js';
import { resultOf } from '../../../../src/tools/mcp/results.js';
import { Redactor } from '../../../../src/tools/redact.js';

const text = (words: string) => ({ type: 'text', text: words });

describe('the answer of a server', () => {
  it.each<[string, object, unknown]>([
    ['structured', { structuredContent: { a: 1 }, content: [text('{"a":1}')] }, { a: 1 }],
    ['structured and empty', { structuredContent: null, content: [] }, null],
    ['text', { content: [text('one'), text('two')] }, 'one\ntwo'],
    ['nothing', { content: [] }, null],
    ['no content at all', {}, null],
    [
      'an image',
      { content: [text('here'), { type: 'image', mimeType: 'image/png', data: 'AAAA' }] },
      'here\n[image: image/png, 3 bytes, not shown]',
    ],
    [
      'a link',
      { content: [{ type: 'resource_link', name: 'log', uri: 'file:///log' }] },
      '[resource: log file:///log]',
    ],
    [
      'a file of text',
      { content: [{ type: 'resource', resource: { uri: 'x:1', text: 'inside' } }] },
      '[resource: x:1]\ninside',
    ],
    [
      'a file of bytes',
      {
        content: [
          {
            type: 'resource',
            resource: { uri: 'x:1', mimeType: 'application/gzip', blob: 'AAA=' },
          },
        ],
      },
      '[resource: x:1, application/gzip, 2 bytes, not shown]',
    ],
    ['what nobody knows', { content: [{ type: 'hologram' }] }, '[hologram: not shown]'],
  ])('that is %s', (_what, answer, result) => {
    expect(resultOf(answer, [])).toEqual(result);
  });

  it('that is an error is one, in the server’s words', () => {
    const error = resultOf({ isError: true, content: [text('no such repository')] }, []);
    expect(error).toBeInstanceOf(ToolError);
    expect((error as ToolError).message).toBe('no such repository');
    const bare = resultOf({ isError: true, structuredContent: { code: 7 } }, []);
    expect((bare as ToolError).message).toBe('{"code":7}');
    const silent = resultOf({ isError: true, content: [] }, []);
    expect((silent as ToolError).message).toMatch(/gives no reason/);
  });

  it('after a question that nobody was asked says so, or the model would blame the user', () => {
    expect(resultOf({ content: [text('The user cancelled.')] }, ['Delete it?'])).toMatch(
      /^The user cancelled\.\n\[The server asked a question .* nobody could be asked.*: Delete it\?\]$/,
    );
  });
});

describe('secrets', () => {
  it('are taken out of every text and key that a server sends back', () => {
    const secrets = new Redactor({ minChars: 6, maxSecrets: 32 });
    secrets.add('tok_123456', 'short');
    expect(secrets.json({ tok_123456: ['a tok_123456 b', 1, null], short: 'short' })).toEqual({
      '[redacted]': ['a [redacted] b', 1, null],
      short: 'short',
    });
  });

  it('are known in base64, in addresses and within JSON, too, and the longer one where one holds another', () => {
    const secrets = new Redactor({ minChars: 6, maxSecrets: 32 });
    secrets.add('tok en/"12', 'tok en/"12-and-more');
    const base64 = Buffer.from('tok en/"12').toString('base64');
    expect(secrets.text(`${base64} ${encodeURIComponent('tok en/"12')} tok en/\\"12`)).toBe(
      '[redacted] [redacted] [redacted]',
    );
    expect(secrets.text('tok en/"12-and-more')).toBe('[redacted]');
  });

  it('are remembered while answers to them may come, and not for ever', () => {
    const secrets = new Redactor({ minChars: 6, maxSecrets: 32 });
    for (let turn = 0; turn < 40; turn += 1) secrets.add(`token-number-${turn}`);
    expect(secrets.text('token-number-39')).toBe('[redacted]');
    expect(secrets.text('token-number-0')).toBe('token-number-0');
  });
});
