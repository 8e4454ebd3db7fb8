/**
 * The tool system of the Hsafa gateway by its own examples and traces: the same documents, names, fields and order.
 * Parts that need a space are in the tests of spaces.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hsafaAgents, hsafaTools, pendingToolCalls } from '../../../../src/compat/hsafa/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import { shownResult } from '../../../../src/model/shared/results.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { type Answer, json, type Peer, startPeer } from '../../../support/servers/http-peer.js';

const fetchExternalData = {
  ...{ name: 'fetchExternalData', executionType: 'external' },
  ...{ visible: false, isAsync: false, timeout: 10_000 },
};
const confirmAction = {
  name: 'confirmAction',
  executionType: 'space',
  visible: true,
  isAsync: true,
};
const displayChart = { name: 'displayChart', executionType: 'internal', visible: true };

let answer: Answer = json({ celsius: 21 });
let peer: Peer;
beforeAll(async () => {
  peer = await startPeer((request, response) => answer(request, response));
});
afterAll(() => peer[Symbol.asyncDispose]());

const fetchWeather = () => ({
  ...{ name: 'fetchWeather', executionType: 'gateway', visible: true },
  execution: { url: `${peer.url}/current`, method: 'GET' },
});

function agentWith(tool: object, ...answers: readonly ScriptedAnswer[]) {
  const model = script(...answers);
  const { agents, warnings } = hsafaAgents(
    { name: 'assistant', systemPrompt: 'Help.', model: 'scripted', tools: [tool] },
    { model: () => model, allowPrivate: ['127.0.0.1'], spaces: false },
  );
  const [agent] = agents;
  if (agent === undefined) throw new Error('unreachable');
  const t = testConversation(agent);
  return {
    ...{ agent, model, t, warnings },
    /** The results that the newest request shows the model. */
    read: (): readonly Json[] => {
      const request = model.requests.at(-1);
      const last = request?.messages.at(-1);
      if (request === undefined || last?.role !== 'tool') return [];
      return last.parts.map(({ envelope }) => shownResult(envelope, request));
    },
    /** The text of the newest message. */
    newest: (): string => JSON.stringify(model.requests.at(-1)?.messages.at(-1)),
    record: () => pendingToolCalls('talk', t.events).at(-1),
    visible: agent.tools.map(({ metadata }) => metadata?.['visible']),
  };
}

describe('Tool Configuration: confirmAction with every field', () => {
  const whole = (url: string) => ({
    name: 'confirmAction',
    description: 'Asks the user whether an action is meant',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    executionType: 'space',
    visible: true,
    isAsync: true,
    timeout: 30_000,
    execution: { url, method: 'POST' },
  });

  it('is called by its URL, which wins over the space, with a warning; strict refuses it', {
    ...promise('H8', 'H24'),
  }, async () => {
    answer = json({ confirmed: true });
    const { t, agent, visible, warnings, read } = agentWith(
      whole(`${peer.url}/confirm`),
      calls('confirmAction', { text: 'Confirm booking?' }),
      says('Booked.'),
    );
    expect(agent.tools).toMatchObject([{ executor: 'server', mode: 'await' }]);
    expect(visible).toEqual([true]);
    expect(warnings.map(({ path }) => path)).toEqual(['tools[0].isAsync']);
    await t.send('Book');
    expect(peer.requests.at(-1)).toMatchObject({
      ...{ method: 'POST', target: '/confirm', body: '{"text":"Confirm booking?"}' },
    });
    expect(read()).toEqual([{ confirmed: true }]);
    const strict = () => hsafaTools([whole(peer.url)], { strict: true });
    expect(strict).toThrow(/isAsync/);
  });

  it('has a fault where the address is left out, as in the source', () => {
    expect(() => hsafaTools([whole('...')])).toThrow(/execution\.url/);
  });
});

describe('Inline (URL): Weather API', () => {
  it('fetchWeather is one GET, and its answer is the result in the same cycle', {
    ...promise('H12', 'H15', 'H21', 'H24', 'H27'),
  }, async () => {
    answer = json({ celsius: 21 });
    const { t, read, visible } = agentWith(
      fetchWeather(),
      calls('fetchWeather', { city: 'Tokyo' }),
      says('21 degrees.'),
    );
    await t.send('Weather?');
    expect(peer.requests.at(-1)).toMatchObject({ method: 'GET', target: '/current?city=Tokyo' });
    expect(read()).toEqual([{ celsius: 21 }]);
    expect(t.text).toBe('21 degrees.');
    expect(t.eventTypes).not.toContain('suspension');
    expect(visible).toEqual([true]);
  });

  it.each<[string, Answer, RegExp]>([
    [
      'a status that is no success',
      json({ reason: 'no such city' }, 404),
      /^HTTP 404: {"reason":"no such city"}$/,
    ],
    [
      'a text of such a status',
      (_request, response) =>
        response.writeHead(403, { 'content-type': 'text/plain' }).end('go away\nnow'),
      /^HTTP 403: go away now$/,
    ],
    [
      'a body that is not JSON',
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      /not JSON/,
    ],
    ['a connection that breaks', (_request, response) => response.destroy(), /127\.0\.0\.1/],
  ])('an HTTP failure is {error}: %s', promise('S30', 'H15'), async (_title, given, text) => {
    answer = given;
    const { t, read } = agentWith(fetchWeather(), calls('fetchWeather', {}), says('Sorry.'));
    await t.send('Weather?');
    expect(read()).toEqual([{ error: expect.stringMatching(text) as string }]);
  });

  it('is bounded by its timeout, which the error names', promise('H11', 'H23'), async () => {
    answer = () => undefined;
    const slow = { ...fetchWeather(), timeout: 50 };
    const { t, read } = agentWith(slow, calls('fetchWeather', {}), says('Sorry.'));
    await t.send('Weather?');
    expect(read()).toEqual([{ error: 'Tool timed out after 50ms' }]);
  });
});

describe('Sync with timeout (no URL): the cycle with fetchExternalData', () => {
  const query = { query: 'active projects' };
  const found = { source: 'pm-api', results: ['a', 'b', 'c'] };

  it('waits; a result within 10 s is returned inline, and nothing enters the inbox', {
    ...promise('H11', 'H16', 'H22', 'H28', 'H37', 'H40', 'H41', 'H45'),
  }, async () => {
    const { t, read, record, visible } = agentWith(
      fetchExternalData,
      calls('fetchExternalData', query),
      says('Found 3 active projects.'),
    );
    await t.send('Look up active projects');
    const waiting = {
      ...{ toolCallId: 'call_1', toolName: 'fetchExternalData', args: query },
      agentEntityId: 'talk',
    };
    expect(record()).toMatchObject({ ...waiting, status: 'waiting' });
    await t.advance('3s');
    await t.resolve('call_1', { type: 'result', value: found });
    expect(read()).toEqual([found]);
    expect(t.text).toBe('Found 3 active projects.');
    expect(record()).toMatchObject({ ...waiting, status: 'resolved', result: found });
    expect(t.eventTypes).not.toContain('inbox_event');
    expect(t.eventsOf('turn_started')).toHaveLength(1);
    expect(visible).toEqual([false]);
  });

  it('times out with an error and becomes pending; the late result reaches the inbox, once', {
    ...promise('H22', 'H28', 'H38', 'H40', 'H41', 'H44'),
  }, async () => {
    const { t, read, record, newest } = agentWith(
      fetchExternalData,
      calls('fetchExternalData', query),
      says('It took too long.'),
      says('Found 3 active projects.'),
    );
    await t.send('Look up active projects');
    await t.advance('10s');
    expect(read()).toEqual([{ error: 'Tool timed out after 10000ms' }]);
    expect(t.text).toBe('It took too long.');
    expect(record()).toMatchObject({ status: 'pending' });
    expect(record()).not.toHaveProperty('expiresAt');
    const late = await t.resolve('call_1', { type: 'result', value: found });
    expect(late.verdict).toBe('accepted_late');
    expect(newest()).toContain('[Tool result: fetchExternalData] (call call_1)');
    expect(newest()).toContain('pm-api');
    expect(record()).toMatchObject({ status: 'resolved', result: found });
    expect(await t.resolve('call_1', { type: 'result', value: 1 })).toMatchObject({
      verdict: 'stale',
    });
    expect(t.eventsOf('inbox_event')).toHaveLength(1);
  });

  it('waits 30 s where the document sets no timeout', promise('H11', 'H23'), async () => {
    const { timeout: _timeout, ...tool } = fetchExternalData;
    const { t, read } = agentWith(tool, calls(tool.name, query), says('Late.'));
    await t.send('Look up');
    await t.advance('29s');
    expect(t.text).toBe('');
    await t.advance('1s');
    expect(read()).toEqual([{ error: 'Tool timed out after 30000ms' }]);
  });
});

describe('Async: the two cycles with confirmAction', () => {
  it('is pending at once, the agent goes on, and the answer is in the inbox of the next cycle', {
    ...promise('H10', 'H20', 'H24', 'H29', 'H36', 'H39', 'H41', 'H44'),
  }, async () => {
    const { t, read, record, newest, visible } = agentWith(
      confirmAction,
      calls('confirmAction', { text: 'Confirm booking?' }),
      says('Asked Husam to confirm. Moving on.'),
      says('Husam confirmed! Booking now.'),
    );
    await t.send('Book a hotel in Tokyo');
    expect(read()).toEqual([{ status: 'pending', pendingToolCallId: 'call_1' }]);
    expect(t.text).toBe('Asked Husam to confirm. Moving on.');
    expect(t.eventsOf('turn_ended')).toHaveLength(1);
    expect(record()).toMatchObject({ status: 'pending', toolName: 'confirmAction' });
    t.rollOver();
    await t.resolve('call_1', { type: 'answer', value: { confirmed: true } });
    expect(newest()).toContain('[Tool result: confirmAction] (call call_1)');
    expect(newest()).toContain(String.raw`{\"confirmed\":true}`);
    expect(t.text).toBe('Husam confirmed! Booking now.');
    expect(t.eventsOf('turn_started')).toHaveLength(2);
    expect(record()).toMatchObject({ status: 'resolved', result: { confirmed: true } });
    expect(visible).toEqual([true]);
  });

  it('that is not async waits for its person, and has the text of every other time-out', {
    ...promise('H17', 'H22', 'H38'),
  }, async () => {
    const sync = { ...confirmAction, isAsync: false, timeout: 10_000 };
    const { t, read, record, newest } = agentWith(
      sync,
      calls('confirmAction', {}),
      says('No answer.'),
      says('Thanks.'),
    );
    await t.send('Book');
    expect(record()).toMatchObject({ status: 'waiting' });
    await t.advance('10s');
    expect(read()).toEqual([{ error: 'Tool timed out after 10000ms' }]);
    expect(record()).toMatchObject({ status: 'pending' });
    const late = await t.resolve('call_1', { type: 'answer', value: { confirmed: true } });
    expect(late.verdict).toBe('accepted_late');
    expect(newest()).toContain(String.raw`{\"confirmed\":true}`);
    expect(record()).toMatchObject({ status: 'resolved', result: { confirmed: true } });
  });
});

describe('Internal: Display chart', () => {
  it('displayChart returns its arguments at once, and no code runs', {
    ...promise('H18', 'H24', 'H25', 'H30'),
  }, async () => {
    const chart = { kind: 'bar', points: [1, 2] };
    const { t, read, record, visible } = agentWith(
      displayChart,
      calls('displayChart', chart),
      says('Here it is.'),
    );
    await t.send('Draw');
    expect(read()).toEqual([{ success: true, args: chart }]);
    expect(record()).toBeUndefined();
    expect(visible).toEqual([true]);
    expect(t.text).toBe('Here it is.');
  });
});

describe('MCP Tools: Configuration', () => {
  it('github-tools is a server with an allow-list, whose tools are not visible', {
    ...promise('S31', 'H54', 'H55', 'H56'),
  }, () => {
    const server = {
      ...{ name: 'github-tools', url: 'https://mcp.github.com', transport: 'http' },
      allowedTools: ['list_prs', 'create_issue'],
    };
    const { agents, warnings } = hsafaAgents(
      { name: 'dev', instructions: 'Help.', model: 'scripted', mcp: { servers: [server] } },
      { model: () => script(), spaces: false },
    );
    expect(warnings).toEqual([]);
    expect(agents[0]?.tools).toEqual([]);
    expect(agents[0]?.mcpServers).toMatchObject([
      {
        name: 'github-tools',
        transport: { type: 'http', url: 'https://mcp.github.com' },
        spec: { allowedTools: ['list_prs', 'create_issue'] },
      },
    ]);
  });
});
