/** The two forms in which models read results of tools, in the requests of every adapter. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../../src/index.js';
import { toAiSdkPrompt } from '../../../../src/model/ai-sdk/prompt.js';
import { toChatRequest } from '../../../../src/model/openai/chat.js';
import { toResponsesRequest } from '../../../../src/model/openai/responses.js';
import { NO_FILES } from '../../../../src/model/shared/files.js';
import type { ToolResultEnvelope } from '../../../../src/protocol/calls/results.js';
import type { ModelRequest } from '../../../../src/protocol/model/model.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { agentFaults } from '../../define/tool/faults.js';

const OK: ToolResultEnvelope = { ok: true, result: { hits: 2 } };
const FAILED: ToolResultEnvelope = { ok: false, error: { code: 'expired', message: 'too late' } };
const FILES = [
  { type: 'image', source: { url: 'https://e.com/a.png' }, mediaType: 'image/png' },
] as const;

function requestWith(envelope: ToolResultEnvelope, bare: boolean): ModelRequest {
  const at = { id: 'm', turnId: 't', step: 1 };
  const part = { type: 'tool_result', toolCallId: 'c', name: 'find', envelope } as const;
  return {
    ...{ system: '', tools: [] },
    messages: [{ role: 'tool', ...at, parts: [part] }],
    ...(bare ? { bareResults: true } : {}),
  };
}

/** The texts in which each adapter sends the result. */
function sent(envelope: ToolResultEnvelope, bare = true): readonly unknown[] {
  const request = requestWith(envelope, bare);
  const [chat] = toChatRequest(request, { model: 'm' }).messages;
  const [item] = toResponsesRequest(request, { model: 'm' }).input as unknown as readonly [
    { output: unknown },
  ];
  const target = { provider: 'acme', specificationVersion: 'v4', loaded: NO_FILES } as const;
  const [message] = toAiSdkPrompt(request, target);
  const [part] = message?.content as unknown as readonly [
    { output: { type: string; value: unknown } },
  ];
  const read = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : text);
  return [read(chat?.content), read(item.output), part.output];
}

describe('a bare result', () => {
  it('is the result alone, in the requests of every adapter', promise('H25', 'H10'), () => {
    const value = { hits: 2 };
    expect(sent(OK)).toEqual([value, value, { type: 'json', value }]);
    expect(sent({ ok: true, result: 'text' })).toEqual([
      'text',
      'text',
      { type: 'json', value: 'text' },
    ]);
  });

  it(
    'of a failed call is its message, and keeps the error flag of a provider',
    promise('H22'),
    () => {
      const value = { error: 'too late' };
      expect(sent(FAILED)).toEqual([value, value, { type: 'error-json', value }]);
    },
  );

  it('with a notice or files has them beside the result', () => {
    const notice = 'again';
    expect(sent({ ...OK, notice })[0]).toEqual({ result: { hits: 2 }, notice });
    expect(sent({ ...FAILED, notice })[0]).toEqual({ error: 'too late', notice });
    const [chat, responses, aiSdk] = sent({ ...OK, files: FILES });
    expect(chat).toEqual({ result: { hits: 2 }, files: FILES });
    expect(responses).toMatchObject([{ text: '{"hits":2}' }, { type: 'input_image' }]);
    expect(aiSdk).toMatchObject({
      type: 'content',
      value: [{ type: 'text', text: '{"hits":2}' }, { type: 'file' }],
    });
  });
});

it('an envelope is sent as it is where a request asks for nothing else', () => {
  expect(sent(OK, false)).toEqual([OK, OK, { type: 'json', value: OK }]);
  expect(sent(FAILED, false)).toEqual([FAILED, FAILED, { type: 'error-json', value: FAILED }]);
});

describe('the form of results that an agent sets', () => {
  const tool = defineTool({
    ...{ name: 'find', description: 'Finds.', input: z.object({}), run: () => ({ hits: 2 }) },
  });

  it.each([
    ['envelope', undefined],
    [undefined, undefined],
    ['bare', true],
  ] as const)(
    '%s is in its requests, and the log has envelopes',
    async (resultForm, bareResults) => {
      const model = script(calls('find', {}), says('Two.'));
      const form = resultForm === undefined ? {} : { resultForm };
      const t = testConversation(
        defineAgent({ name: 'a', model, instructions: 'Help.', tools: [tool], ...form }),
      );
      await t.send('find');
      expect(model.requests.map((request) => request.bareResults)).toEqual([
        bareResults,
        bareResults,
      ]);
      expect(t.result('find')).toEqual({ ok: true, result: { hits: 2 } });
    },
  );

  it('is refused when it is another word', () => {
    const spec = { name: 'a', model: script(), instructions: 'Help.', resultForm: 'raw' };
    expect(agentFaults(spec)).toEqual({ resultForm: 'must be envelope or bare, got "raw"' });
  });
});
