/** Images and files that come with a message. */
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { says, script } from '../../../../src/model/scripted/scripted.js';
import { attachmentProblems } from '../../../../src/protocol/values/attachments.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

const IMAGE = { type: 'image', source: { url: 'https://example.com/a.png' } } as const;
const blob = { id: 'a'.repeat(64), bytes: 3, type: 'application/octet-stream' } as const;
const FILE = { type: 'file', source: { blob }, mediaType: 'application/pdf' } as const;

function talk() {
  const model = script(says('A cat.'), says('Still a cat.'));
  const agent = defineAgent({ name: 'eye', model, instructions: 'Look.', tools: [] });
  return { t: testConversation(agent), model };
}

describe('an attachment of a message', () => {
  it('follows its text in the log and in the model’s input', promise('G99'), async () => {
    const { t, model } = talk();
    await t.send('What is it?', { attachments: [IMAGE, FILE] });
    const parts = [{ type: 'text', text: 'What is it?' }, IMAGE, FILE];
    expect(t.events.find(({ type }) => type === 'user_message')).toMatchObject({ parts });
    expect(model.requests[0]?.messages[0]?.parts).toEqual(parts);
    expect(t.text).toBe('A cat.');
  });

  it('belongs to its request id: another picture under it is another message', async () => {
    const { t } = talk();
    const first = await t.send('Look', { requestId: 'r', attachments: [IMAGE] });
    expect(await t.send('Look', { requestId: 'r', attachments: [IMAGE] })).toEqual(first);
    await expect(t.send('Look', { requestId: 'r', attachments: [FILE] })).rejects.toThrow(
      'invalid_request',
    );
    await expect(t.send('Look', { requestId: 'r' })).rejects.toThrow('invalid_request');
  });

  it.each<[string, unknown, string]>([
    ['no list', IMAGE, '/attachments'],
    ['too many', Array.from({ length: 17 }, () => IMAGE), '/attachments'],
    ['of another kind', [{ ...IMAGE, type: 'sound' }], '/attachments/0'],
    [
      'with bytes',
      [{ ...IMAGE, source: { url: 'data:image/png;base64,AA' } }],
      '/attachments/0/source',
    ],
    [
      'from a file system',
      [{ ...IMAGE, source: { url: 'file:///a.png' } }],
      '/attachments/0/source',
    ],
    [
      'with two sources',
      [{ ...IMAGE, source: { url: 'https://a', fileId: 'f' } }],
      '/attachments/0/source',
    ],
    ['without a source', [{ type: 'file' }], '/attachments/0/source'],
    [
      'with a source of no kind',
      [{ type: 'file', source: { path: '/a' } }],
      '/attachments/0/source',
    ],
    [
      'with a reference that is none',
      [{ ...FILE, source: { blob: { ...blob, id: 'x' } } }],
      '/attachments/0/source',
    ],
    [
      'a stored value of no known type',
      [{ type: 'file', source: { blob } }],
      '/attachments/0/mediaType',
    ],
    [
      'with a type that is none',
      [IMAGE, { ...FILE, mediaType: 'pdf' }],
      '/attachments/1/mediaType',
    ],
    ['with an empty name', [{ ...FILE, filename: '' }], '/attachments/0/filename'],
    ['with an odd detail', [{ ...IMAGE, detail: 'huge' }], '/attachments/0/detail'],
    ['with an unknown field', [{ ...IMAGE, alt: 'A cat' }], '/attachments/0/alt'],
  ])('is refused when it is %s, with its path', (_what, attachments, path) => {
    expect(attachmentProblems(attachments).map((problem) => problem.path)).toEqual([path]);
  });
});
