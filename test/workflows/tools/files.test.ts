/** Files on their way from an application to the provider, on a real server and over real connections. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.js';
import { openaiModel } from '../../../src/model/openai/adapter.js';
import { startEngine } from '../../support/engine/engine.js';
import { startWireServer, type WireRequest } from '../../support/networks/wire-server.js';
import { promise } from '../../support/promise.js';
import { chatEvents, responsesEvents } from '../../support/samples/wire-events.js';

/** The shortest prefix that identifies a PNG, and a PDF. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...Array(500).keys()]);
const PDF = Buffer.from(`%PDF-1.7 ${'x'.repeat(500)}`);

const shot = defineTool({
  name: 'screen.shot',
  description: 'Takes a picture of the screen.',
  executor: 'client',
  input: z.object({}),
});

type Api = 'chat' | 'responses';

/** An application whose model asks for a picture once, and then says that it has seen it. */
async function application(api: Api) {
  const stream = api === 'chat' ? chatEvents : responsesEvents;
  const CALL = { id: 'call_1', name: 'screen__shot', arguments: '{}' };
  const server = await startWireServer(({ body }) => {
    const isAnswered = JSON.stringify(body).includes('call_1');
    return { events: stream(isAnswered ? { text: 'Seen.' } : { calls: [CALL] }) };
  });
  onTestFinished(() => server.close());
  const agent = defineAgent({
    name: 'looker',
    model: openaiModel('m-1', { api, baseURL: server.url, apiKey: 'sk-test-0123456789' }),
    instructions: 'Look.',
    tools: [shot],
  });
  const engine = await startEngine({ agents: [agent] });
  return { engine, server };
}

function bytesOf(url: unknown, mediaType: string): Buffer {
  const [head, data = ''] = String(url).split(',');
  expect(head).toBe(`data:${mediaType};base64`);
  return Buffer.from(data, 'base64');
}

interface WireItem {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

function itemsOf(request: WireRequest | undefined): readonly WireItem[] {
  return (request?.body['messages'] ?? request?.body['input']) as readonly WireItem[];
}

test.each<Api>(['chat', 'responses'])(
  'files that are uploaded and sent reach the provider byte for byte, and are in no history (%s)',
  promise('G99'),
  async (api) => {
    const { engine, server } = await application(api);
    const talk = engine.begin();
    const [image, file] = await Promise.all([talk.upload(PNG), talk.upload(PDF)]);
    const turn = await talk.send('What is this?', {
      attachments: [
        { type: 'image', source: { blob: image }, mediaType: 'image/png' },
        {
          type: 'file',
          source: { blob: file },
          mediaType: 'application/pdf',
          filename: 'bill.pdf',
        },
      ],
    });
    expect(await turn.result({ timeout: '20s' })).toMatchObject({ status: 'waiting' });
    const asked = itemsOf(server.requests[0]).find(({ role }) => role === 'user');
    const [text, first, second] = asked?.content as readonly Record<string, unknown>[];
    expect(text?.['text']).toBe('What is this?');
    if (api === 'chat') {
      const { url } = first?.['image_url'] as { url: unknown };
      expect(bytesOf(url, 'image/png')).toEqual(PNG);
      const { file_data, filename } = second?.['file'] as Record<string, unknown>;
      expect([bytesOf(file_data, 'application/pdf'), filename]).toEqual([PDF, 'bill.pdf']);
    } else {
      expect(bytesOf(first?.['image_url'], 'image/png')).toEqual(PNG);
      expect(bytesOf(second?.['file_data'], 'application/pdf')).toEqual(PDF);
      expect(second?.['filename']).toBe('bill.pdf');
    }
    const history = JSON.stringify(await engine.history.events(engine.workflowId(talk)));
    for (const bytes of [PNG, PDF]) expect(history).not.toContain(bytes.toString('base64'));
  },
);

test.each<Api>(['chat', 'responses'])(
  'a picture that a client attaches to its result is shown to the model if its API accepts it, and named otherwise (%s)',
  promise('G100'),
  async (api) => {
    const { engine, server } = await application(api);
    const { talk, result } = await engine.ask('What is on the screen?');
    expect(result).toMatchObject({ status: 'waiting', pending: [{ kind: 'client_execution' }] });
    const blob = await talk.upload(PNG);
    const files = [{ type: 'image', source: { blob }, mediaType: 'image/png' }] as const;
    const resolution = { type: 'result', value: { width: 8 }, files } as const;
    expect((await talk.resolve('call_1', resolution)).verdict).toBe('accepted');
    await engine.idle(talk);
    const log = await engine.log(talk);
    expect(log.find(({ type }) => type === 'tool_result')).toMatchObject({
      result: { envelope: { ok: true, result: { width: 8 }, files } },
    });
    const answered = itemsOf(server.requests[1]).at(-1);
    if (api === 'chat') {
      // This API accepts only text from tools.
      expect(answered).toMatchObject({ role: 'tool' });
      expect(String(answered?.content)).toContain(blob.id);
      return;
    }
    expect(answered).toMatchObject({
      type: 'function_call_output',
      output: [
        { type: 'input_text', text: '{"ok":true,"result":{"width":8}}' },
        { type: 'input_image' },
      ],
    });
    const [, shown] = answered?.output as readonly { readonly image_url?: string }[];
    expect(bytesOf(shown?.image_url, 'image/png')).toEqual(PNG);
  },
);
