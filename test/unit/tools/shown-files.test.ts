/** Tools that show the model images and files beside their results. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { type ToolFile, withFiles } from '../../../src/define/tool/files.js';
import { toChatRequest } from '../../../src/model/openai/chat.js';
import { toResponsesRequest } from '../../../src/model/openai/responses.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { ToolResultEnvelope } from '../../../src/protocol/calls/results.js';
import { testConversation } from '../../../src/testing/test-conversation.js';
import { outputEnvelope } from '../../../src/tools/run/run.js';
import { promise } from '../../support/promise.js';

const ADDRESS = { type: 'image', source: { url: 'https://example.com/a.png' } } as const;
const BYTES = {
  type: 'image',
  source: { bytes: new Uint8Array([1, 2, 3]) },
  mediaType: 'image/png',
} as const;

function plotting(files: readonly ToolFile[]) {
  return defineTool({
    name: 'plot',
    description: 'Draws.',
    input: z.object({}),
    output: z.object({ points: z.int() }),
    run: () => withFiles({ points: 3 }, files),
  });
}

async function shown(files: readonly ToolFile[]) {
  const model = script(calls('plot', {}), says('A line.'));
  const agent = defineAgent({
    name: 'artist',
    model,
    instructions: 'Draw.',
    tools: [plotting(files)],
  });
  const t = testConversation(agent);
  await t.send('Draw a line');
  return { envelope: t.result('plot'), request: model.requests[1] };
}

describe('a tool that shows files beside its result', () => {
  it('has them stored where it gives bytes; the log and the model have references', {
    ...promise('G98'),
  }, async () => {
    const { envelope, request } = await shown([ADDRESS, BYTES]);
    expect(envelope).toEqual({
      ok: true,
      result: { points: 3 },
      files: [
        ADDRESS,
        {
          type: 'image',
          mediaType: 'image/png',
          source: {
            blob: {
              id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
              bytes: 3,
              type: 'application/octet-stream',
            },
          },
        },
      ],
    });
    expect(request?.messages.at(-1)?.parts).toMatchObject([{ envelope }]);
  });

  it('has them seen through Responses, and read as references through Chat Completions', async () => {
    const { request } = await shown([ADDRESS]);
    const responses = toResponsesRequest(request!, { model: 'm' });
    expect((responses.input as readonly unknown[]).at(-1)).toEqual({
      type: 'function_call_output',
      call_id: 'call_1',
      output: [
        { type: 'input_text', text: '{"ok":true,"result":{"points":3}}' },
        { type: 'input_image', detail: 'auto', image_url: 'https://example.com/a.png' },
      ],
    });
    const chat = toChatRequest(request!, { model: 'm' });
    expect(chat.messages.at(-1)?.content).toContain('https://example.com/a.png');
  });

  it.each<[string, readonly ToolFile[], string]>([
    ['more than sixteen', Array.from({ length: 17 }, () => ADDRESS), 'files must have at most 16'],
    ['bytes of no known type', [{ ...BYTES, mediaType: 'png' }], 'files/0/mediaType must be'],
    ['an address of no network', [{ type: 'file', source: { url: '/a' } }], 'files/0/source url'],
    ['no bytes at all', [{ ...BYTES, source: { bytes: 'AA' as never } }], 'files/0/source must be'],
  ])('may not show %s', async (_what, files, problem) => {
    const { envelope } = await shown(files);
    expect(envelope).toMatchObject({ ok: false, error: { code: 'invalid_output' } });
    expect(JSON.stringify(envelope)).toContain(problem);
  });

  it('loses files that cannot be stored, not its result, and the model gets a note', {
    ...promise('G98'),
  }, async () => {
    const quiet = () => undefined;
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet } as never;
    const envelopeWith = (keepFile?: () => Promise<undefined>): Promise<ToolResultEnvelope> => {
      const large = { keep: () => Promise.resolve(undefined), readable: false };
      const run = {
        tool: plotting([]) as never,
        ctx: { logger },
        large: keepFile === undefined ? large : { ...large, keepFile },
      };
      return outputEnvelope(run, withFiles({ points: 3 }, [BYTES, ADDRESS]));
    };
    const expected = {
      ok: true,
      result: { points: 3 },
      files: [ADDRESS],
      notice: 'A file of this result could not be stored and cannot be shown',
    };
    expect(await envelopeWith()).toEqual(expected);
    expect(await envelopeWith(() => Promise.resolve(undefined))).toEqual(expected);
  });
});
