/** Images and files of users on their way to OpenAI, through both of its APIs. */
import { describe, expect, it } from 'vitest';
import { toChatRequest } from '../../../../src/model/openai/chat.js';
import { toResponsesRequest } from '../../../../src/model/openai/responses.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import { promise } from '../../../support/promise.js';

describe('a file of a user', () => {
  const blob = { id: 'b'.repeat(64), bytes: 3, type: 'application/octet-stream' } as const;
  const shown: Message = {
    role: 'user',
    id: 'u',
    turnId: 't1',
    parts: [
      { type: 'text', text: 'Look' },
      { type: 'image', source: { url: 'https://example.com/a.png' }, detail: 'low' },
      { type: 'image', source: { blob }, mediaType: 'image/png' },
      { type: 'file', source: { fileId: 'file_1' } },
      { type: 'file', source: { blob }, mediaType: 'application/pdf', filename: 'a.pdf' },
    ],
  };
  const request = { system: '', messages: [shown], tools: [] };

  it('goes to the provider: by its address, by its id there, or with its bytes', () => {
    const loaded = new Map([[blob.id, 'AAAA']]);
    expect(toResponsesRequest(request, { model: 'm' }, loaded).input).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', detail: 'low', image_url: 'https://example.com/a.png' },
          { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
          { type: 'input_file', file_id: 'file_1' },
          {
            type: 'input_file',
            file_data: 'data:application/pdf;base64,AAAA',
            filename: 'a.pdf',
          },
        ],
      },
    ]);
  });

  it('goes through Chat Completions as far as that accepts it, and is described in words otherwise', () => {
    const loaded = new Map([[blob.id, 'AAAA']]);
    const byAddress: Message = {
      ...shown,
      parts: [
        ...shown.parts,
        { type: 'file', source: { url: 'https://example.com/b.pdf' }, filename: 'b.pdf' },
      ],
    };
    expect(
      toChatRequest({ ...request, messages: [byAddress] }, { model: 'm' }, loaded).messages,
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } },
          { type: 'file', file: { file_id: 'file_1' } },
          {
            type: 'file',
            file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
          },
          {
            type: 'text',
            text: '[file "b.pdf", not shown: this API does not take it by such a reference]',
          },
        ],
      },
    ]);
  });

  it('is described in words when its bytes are gone, so that the conversation continues', {
    ...promise('G99'),
  }, () => {
    const input = toResponsesRequest(request, { model: 'm' }).input;
    expect(JSON.stringify(input)).toContain('file \\"a.pdf\\", not shown');
  });

  it.each([
    ['a sound', { type: 'file', source: { blob }, mediaType: 'audio/wav' }],
    ['an archive', { type: 'file', source: { blob }, mediaType: 'application/zip' }],
    ['bytes of no type', { type: 'file', source: { blob }, mediaType: 'application/octet-stream' }],
    ['a drawing', { type: 'image', source: { blob }, mediaType: 'image/svg+xml' }],
  ] as const)(
    'is described in words when it is %s, which would have every later request refused',
    promise('G157'),
    (_what, part) => {
      const messages = [{ ...shown, parts: [part] }];
      const loaded = new Map([[blob.id, 'AAAA']]);
      const text = expect.stringContaining(`models do not read ${part.mediaType}`) as string;
      const [responses] = toResponsesRequest({ ...request, messages }, { model: 'm' }, loaded)
        .input as readonly unknown[];
      expect(responses).toEqual({ role: 'user', content: [{ type: 'input_text', text }] });
      const { messages: chat } = toChatRequest({ ...request, messages }, { model: 'm' }, loaded);
      expect(chat).toEqual([{ role: 'user', content: [{ type: 'text', text }] }]);
    },
  );
});
