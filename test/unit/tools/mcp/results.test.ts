/** Answers of MCP servers as the model reads them. */
import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../../src/define/tool/context.js';
import { withFiles } from '../../../../src/define/tool/files.js';
import { resultOf } from '../../../../src/tools/mcp/results.js';
import { Redactor } from '../../../../src/tools/shared/redact.js';
import { promise } from '../../../support/promise.js';

const text = (words: string) => ({ type: 'text', text: words });

const PNG = Buffer.from('89504e470d0a1a0a00000000', 'hex').toString('base64');
const JPEG = Buffer.from('ffd8ffe0', 'hex').toString('base64');
const image = (data: string) => ({ type: 'image', mimeType: 'image/png', data });
const sourceOf = (base64: string) => ({ bytes: new Uint8Array(Buffer.from(base64, 'base64')) });
const shown = (base64: string, mediaType: string) =>
  ({ type: 'image', source: sourceOf(base64), mediaType }) as const;
const kept = (base64: string, mediaType: string, filename?: string) =>
  ({
    type: 'file',
    source: sourceOf(base64),
    mediaType,
    ...(filename === undefined ? {} : { filename }),
  }) as const;

describe('the answer of a server', () => {
  it.each<[string, object, unknown]>([
    ['structured', { structuredContent: { a: 1 }, content: [text('{"a":1}')] }, { a: 1 }],
    ['structured and empty', { structuredContent: null, content: [] }, null],
    ['text', { content: [text('one'), text('two')] }, 'one\ntwo'],
    ['nothing', { content: [] }, null],
    ['no content at all', {}, null],
    [
      'an image',
      { content: [text('here'), image(PNG)] },
      withFiles('here\n[image: image/png, 12 bytes]', [shown(PNG, 'image/png')]),
    ],
    [
      'an image and something structured',
      { structuredContent: { a: 1 }, content: [image(PNG)] },
      withFiles({ a: 1 }, [shown(PNG, 'image/png')]),
    ],
    [
      'an image that is none',
      { content: [image('AAAA')] },
      withFiles('[image: image/png, 3 bytes]', [kept('AAAA', 'application/octet-stream')]),
    ],
    [
      'an image of another kind than it says',
      { content: [image(JPEG)] },
      withFiles('[image: image/png, 4 bytes]', [shown(JPEG, 'image/jpeg')]),
    ],
    [
      'a sound',
      { content: [{ type: 'audio', mimeType: 'audio/wav; rate=8', data: 'UklG\r\nRg==' }] },
      withFiles('[audio: audio/wav; rate=8, 4 bytes]', [kept('UklGRg==', 'audio/wav')]),
    ],
    [
      'an image without bytes',
      { content: [{ type: 'image', mimeType: 'image/png' }] },
      '[image: image/png, 0 bytes, not shown: its bytes cannot be read]',
    ],
    [
      'an image whose bytes are no base64',
      { content: [image('<svg/>')] },
      '[image: image/png, 4 bytes, not shown: its bytes cannot be read]',
    ],
    [
      'an image that is too large',
      { content: [image('A'.repeat(7_000_000))] },
      '[image: image/png, 5250000 bytes, not shown: more than 5242880 bytes]',
    ],
    [
      'more images than can be shown',
      { content: Array.from({ length: 17 }, () => image(PNG)) },
      withFiles(
        `${'[image: image/png, 12 bytes]\n'.repeat(16)}[image: image/png, 12 bytes, not shown: more than 16 files]`,
        Array.from({ length: 16 }, () => shown(PNG, 'image/png')),
      ),
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
      withFiles('[resource: x:1, application/gzip, 2 bytes]', [
        kept('AAA=', 'application/gzip', '1'),
      ]),
    ],
    [
      'a document',
      {
        content: [
          { type: 'resource', resource: { uri: 'file:///a/b%20c.pdf?v=1', blob: 'JVBERi0x' } },
        ],
      },
      withFiles('[resource: file:///a/b%20c.pdf?v=1, unknown type, 6 bytes]', [
        kept('JVBERi0x', 'application/pdf', 'b_20c.pdf'),
      ]),
    ],
    ['with an unknown type', { content: [{ type: 'hologram' }] }, '[hologram: not shown]'],
  ])('that is %s', promise('G157'), (_what, answer, result) => {
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

  it('after a question that was never asked says so, or the model would blame the user', () => {
    expect(resultOf({ content: [text('The user cancelled.')] }, ['Delete it?'])).toMatch(
      /^The user cancelled\.\n\[The server asked a question .* no user could be asked.*: Delete it\?\]$/,
    );
  });
});

describe('secrets', () => {
  it('are taken out of names of files before those are shortened', () => {
    const clean = (text: string) => text.replaceAll('to/k?en', '[redacted]');
    const resource = { uri: 'x:/to/k?en-a.pdf', blob: 'JVBERi0x' };
    const content = [{ type: 'resource', resource }];
    expect(resultOf({ content }, [], clean)).toMatchObject({
      files: [{ filename: '[redacted]-a.pdf' }],
    });
  });

  it('are taken out of every text and key that a server sends back', () => {
    const secrets = new Redactor({ minChars: 6, maxSecrets: 32 });
    secrets.add('tok_123456', 'short');
    expect(secrets.json({ tok_123456: ['a tok_123456 b', 1, null], short: 'short' })).toEqual({
      '[redacted]': ['a [redacted] b', 1, null],
      short: 'short',
    });
  });

  it('are found in base64, in addresses and within JSON, too, and the longer one where one holds another', () => {
    const secrets = new Redactor({ minChars: 6, maxSecrets: 32 });
    secrets.add('tok en/"12', 'tok en/"12-and-more');
    const base64 = Buffer.from('tok en/"12').toString('base64');
    expect(secrets.text(`${base64} ${encodeURIComponent('tok en/"12')} tok en/\\"12`)).toBe(
      '[redacted] [redacted] [redacted]',
    );
    expect(secrets.text('tok en/"12-and-more')).toBe('[redacted]');
  });

  it('are remembered while answers to them may come, and then forgotten', () => {
    const secrets = new Redactor({ minChars: 6, maxSecrets: 32 });
    for (let turn = 0; turn < 40; turn += 1) secrets.add(`token-number-${turn}`);
    expect(secrets.text('token-number-39')).toBe('[redacted]');
    expect(secrets.text('token-number-0')).toBe('token-number-0');
  });
});
