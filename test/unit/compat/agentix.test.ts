/** The guide to tools of Agentix by its headings, with its names: `send_email`, four executors, gates, resolutions. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError, defineAgent, defineTool } from '../../../src/index.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import {
  calls,
  callsAll,
  says,
  saysAfter,
  script,
  testConversation,
} from '../../../src/testing/index.js';

const sent: unknown[] = [];
const sendEmail = defineTool({
  name: 'send_email',
  description: 'Sends a mail.',
  input: z.object({ to: z.string() }),
  approval: 'required',
  run: ({ to }, { requester }) => {
    sent.push({ to, by: requester.id });
    return { sent: to };
  },
});
const getWeather = defineTool({
  name: 'get_weather',
  description: 'Looks the weather up.',
  input: z.object({ city: z.string() }),
  effects: 'none',
  run: ({ city }) => ({ city, celsius: 18 }),
});
const askUser = defineTool({
  name: 'ask_user',
  executor: 'human',
  description: 'Asks the user.',
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string() }),
});
const geolocate = defineTool({
  name: 'geolocate',
  executor: 'client',
  description: 'Where the user is.',
  input: z.object({}),
  output: z.object({ lat: z.number() }),
});
const webSearch = defineTool({
  name: 'web_search',
  executor: 'provider',
  provider: { type: 'web_search' },
});

function conversationWith(...answers: readonly ScriptedAnswer[]) {
  const tools = [sendEmail, getWeather, askUser, geolocate, webSearch];
  return testConversation(
    defineAgent({ name: 'assistant', model: script(...answers), instructions: 'Help.', tools }),
  );
}

const mail = { name: 'send_email', input: { to: 'ann' } };
const weather = { name: 'get_weather', input: { city: 'Berlin' } };
const question = { name: 'ask_user', input: { question: 'Which size?' } };

describe('One tool, two orthogonal axes', () => {
  it('send_email runs on the server, but waits for a person to confirm it, and then runs with the user of the turn', async () => {
    sent.length = 0;
    const t = conversationWith(calls(mail.name, mail.input), says('Sent.'));
    await t.send('Write to Ann', { actor: { id: 'kim' } });
    expect(t.pending).toMatchObject([{ name: 'send_email', kind: 'approval', prompt: mail.input }]);
    expect(sent).toEqual([]);
    await t.approve('send_email');
    expect(sent).toEqual([{ to: 'ann', by: 'kim' }]);
    expect(t.result('send_email')).toEqual({ ok: true, result: { sent: 'ann' } });
  });
});

describe('Executor axis', () => {
  it(':server runs at once; :human and :client wait, each for its own; :provider runs inside the model call', async () => {
    const t = conversationWith(
      callsAll([weather, question, { name: 'geolocate', input: {} }]),
      saysAfter({ name: 'web_search', input: { query: 'rain' }, output: { hits: 2 } }, 'It rains.'),
    );
    await t.send('Go');
    expect(t.pending.map(({ name, kind }) => [name, kind])).toEqual([
      ['ask_user', 'elicitation'],
      ['geolocate', 'client_execution'],
    ]);
    expect(t.result('get_weather')).toEqual({ ok: true, result: { city: 'Berlin', celsius: 18 } });
    await t.answer('ask_user', { answer: '42' });
    await t.resolve('geolocate', { type: 'result', value: { lat: 52 } });
    expect(t.result('web_search')).toMatchObject({ ok: true });
    expect(t.pending).toEqual([]);
  });
});

describe('Approval gate (orthogonal modifier)', () => {
  it.each(['human', 'provider'] as const)(
    'Legal matrix: a gate before :%s is refused at definition',
    (executor) => {
      const tool = executor === 'human' ? askUser : webSearch;
      const declared = { name: 'x', description: 'X.', input: z.object({}), executor };
      const more = executor === 'provider' ? { provider: tool.provider } : {};
      expect(() => defineTool({ ...declared, ...more, approval: 'required' } as never)).toThrow(
        DefinitionError,
      );
    },
  );

  it('Legal matrix: a gated :client call suspends twice, with two resolutions', async () => {
    const gated = defineTool({
      ...{ name: 'pick_file', description: 'Opens the picker.', input: z.object({}) },
      ...{ executor: 'client', approval: 'required' },
    });
    const model = script(calls('pick_file', {}), says('Thanks.'));
    const t = testConversation(
      defineAgent({ name: 'assistant', model, instructions: 'Help.', tools: [gated] }),
    );
    await t.send('Go');
    expect(t.pending).toMatchObject([{ kind: 'approval' }]);
    await t.approve('pick_file');
    expect(t.pending).toMatchObject([{ kind: 'client_execution' }]);
    await t.resolve('pick_file', { type: 'result', value: 'a.txt' });
    expect(t.result('pick_file')).toEqual({ ok: true, result: 'a.txt' });
  });
});

describe('The suspension/resolution primitive', () => {
  it('a mixed turn goes on when the last call is resolved, and not before', async () => {
    const t = conversationWith(callsAll([mail, weather, question]), says('Done.'));
    await t.send('Go');
    expect(t.pending).toHaveLength(2);
    await t.answer('ask_user', { answer: '42' });
    expect(t.events.filter(({ type }) => type === 'turn_ended')).toEqual([]);
    await t.approve('send_email');
    expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'completed' });
  });

  it('Resolver interface: a second resolution is stale, and one of an unknown call is refused: both change nothing', async () => {
    const t = conversationWith(callsAll([question, mail]), says('Done.'));
    await t.send('Go');
    const [asked] = t.pending;
    await t.answer('ask_user', { answer: '42' });
    const id = asked?.toolCallId ?? '';
    await expect(t.answer(id, { answer: '43' })).rejects.toMatchObject({
      verdict: { verdict: 'stale' },
    });
    await expect(t.answer('call_unknown', { answer: '1' })).rejects.toThrow();
    expect(t.result('ask_user')).toEqual({ ok: true, result: { answer: '42' } });
  });

  it('Timeout and idempotency: a call without an answer is an error that the model reads', async () => {
    const t = conversationWith(calls(question.name, question.input), says('Never mind.'));
    await t.send('Go');
    await t.advance('30 days');
    expect(t.result('ask_user')).toMatchObject({
      ok: false,
      error: { code: 'expired', message: expect.stringContaining('did not respond') as string },
    });
  });
});

describe('Resolved: `:client` is `:human` with JS as the "user"', () => {
  it('a result of the client is checked by the schema of the tool, and marked untrusted', async () => {
    const t = conversationWith(calls('geolocate', {}), says('There.'));
    await t.send('Where?');
    const wrong = await t.resolve('geolocate', { type: 'result', value: { lat: 'north' } });
    expect(wrong).toMatchObject({ verdict: 'invalid' });
    await t.resolve('geolocate', { type: 'result', value: { lat: 52 } });
    expect(t.events.find(({ type }) => type === 'tool_result')).toMatchObject({
      result: { provenance: 'untrusted' },
    });
  });
});

it('Result convention: what the model reads says whether it is a result', async () => {
  const model = script(callsAll([weather, mail]), says('Done.'));
  const tools = [getWeather, sendEmail];
  const t = testConversation(
    defineAgent({ name: 'assistant', model, instructions: 'Help.', tools }),
  );
  await t.send('Go');
  await t.deny('send_email', 'not now');
  const read = JSON.stringify(model.requests.at(-1)?.messages);
  expect(read).toContain('"ok":true');
  expect(read).toContain('"ok":false');
  expect(read).toContain('not now');
});
