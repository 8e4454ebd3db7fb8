import { describe, expect, it } from 'vitest';
import {
  calls,
  callsAll,
  fails,
  hangs,
  responds,
  type ScriptedModel,
  says,
  script,
  scriptedBy,
} from '../../../../src/model/scripted/scripted.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import { textOf } from '../../../../src/protocol/conversation/messages.js';
import type { ModelRequest, ModelResponse } from '../../../../src/protocol/model/model.js';

const QUESTION: Message = {
  role: 'user',
  id: 'u',
  turnId: 't',
  parts: [{ type: 'text', text: 'Hi' }],
};

function requestOf(...messages: readonly Message[]): ModelRequest {
  return { system: '', messages, tools: [] };
}

function ask(model: ScriptedModel, request = requestOf(QUESTION)): Promise<ModelResponse> {
  const { signal } = new AbortController();
  return model.generate(request, { signal, onEvent: () => undefined });
}

function asked(...ids: readonly string[]): Message {
  return {
    role: 'assistant',
    id: 'a',
    turnId: 't',
    step: 1,
    parts: ids.map((id) => ({
      type: 'tool_call',
      toolCallId: id,
      name: 'go',
      argumentsJson: '{}',
    })),
  };
}

describe('a scripted model', () => {
  it('gives its answers in order and then says that the script is over', async () => {
    const model = script(says('One'), calls('notes.search', { q: 1 }), says('Two'));
    expect((await ask(model)).parts).toEqual([{ type: 'text', text: 'One' }]);
    expect((await ask(model)).calls).toEqual([
      { id: 'call_1', name: 'notes.search', argumentsJson: '{"q":1}' },
    ]);
    expect(() => {
      model.assertFinished();
    }).toThrow('1 unused answers: "Two"');
    await ask(model);
    model.assertFinished();
    await expect(ask(model)).rejects.toMatchObject({ code: 'script_exhausted', retryable: false });
  });

  it('numbers its calls on from the transcript, so that a restart repeats none', async () => {
    const answer = callsAll([
      { name: 'a', input: {} },
      { name: 'b', input: {}, id: 'mine' },
      { name: 'c', input: {} },
    ]);
    const ids = async (...messages: readonly Message[]): Promise<readonly string[]> =>
      (await ask(script(answer), requestOf(QUESTION, ...messages))).calls.map(({ id }) => id);
    expect(await ids()).toEqual(['call_1', 'mine', 'call_2']);
    expect(await ids(asked('call_1', 'mine', 'call_2'))).toEqual(['call_3', 'mine', 'call_4']);
  });

  it('keeps every request as it was when it came', async () => {
    const model = script(says('One'));
    const messages = [QUESTION];
    await ask(model, { system: 'Be brief', messages, tools: [] });
    messages.length = 0;
    expect(model.requests).toEqual([{ system: 'Be brief', messages: [QUESTION], tools: [] }]);
    expect(Object.isFrozen(model.requests[0]?.messages[0])).toBe(true);
  });

  it('fails as its script says, and retries as the failure table has it unless the script says otherwise', async () => {
    const model = script(
      fails('model_rate_limited', { retryAfterMs: 500 }),
      fails('model_bad_request'),
      fails('model_unavailable', { retryable: false }),
    );
    await expect(ask(model)).rejects.toMatchObject({ retryable: true, retryAfterMs: 500 });
    await expect(ask(model)).rejects.toMatchObject({ retryable: false });
    await expect(ask(model)).rejects.toMatchObject({ code: 'model_unavailable', retryable: false });
  });

  it('hangs until it is stopped', async () => {
    const stop = new AbortController();
    const answer = script(hangs()).generate(requestOf(QUESTION), {
      signal: stop.signal,
      onEvent: () => undefined,
    });
    stop.abort();
    await expect(answer).rejects.toThrow(/abort/i);
  });

  it('computes an answer from the request, in its turn or for every turn', async () => {
    const echo = ({ messages }: ModelRequest) =>
      says(messages.map(({ parts }) => textOf(parts)).join());
    const once = script(responds(echo));
    expect((await ask(once)).parts).toEqual([{ type: 'text', text: 'Hi' }]);
    await expect(ask(once)).rejects.toMatchObject({ code: 'script_exhausted' });
    const always = scriptedBy(echo);
    for (let time = 0; time < 3; time += 1)
      expect((await ask(always)).parts).toEqual([{ type: 'text', text: 'Hi' }]);
    always.assertFinished();
  });
});
