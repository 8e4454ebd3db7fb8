/**
 * Calls of a hosted MCP server for which the provider requests approval: from the wire to an approval, and back to the
 * wire.
 */
import { fileURLToPath } from 'node:url';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startWireServer,
  type WireAnswer,
  type WireRequest,
  type WireServer,
} from '../../support/networks/wire-server.js';
import { promise } from '../../support/promise.js';
import { eventsOf, message } from '../../support/samples/wire-events.js';
import { until } from '../../support/until.js';
import { startWorld, type World } from '../support/world.js';

type Item = OpenAI.Responses.ResponseOutputItem;
type InputItem = OpenAI.Responses.ResponseInputItem;

const PATIENCE_MS = 60_000;
const LISTED = {
  type: 'mcp_list_tools',
  id: 'mcpl_1',
  server_label: 'gh',
  tools: [{ name: 'merge', input_schema: { type: 'object' } }],
} satisfies Item;

function merge(id: string, pr: number) {
  return {
    type: 'mcp_approval_request',
    id,
    server_label: 'gh',
    name: 'merge',
    arguments: JSON.stringify({ pr }),
  } satisfies Item;
}

const SEVEN = merge('mcpr_7', 7);
const EIGHT = merge('mcpr_8', 8);
const MERGED = {
  type: 'mcp_call',
  id: 'mcp_7',
  server_label: 'gh',
  name: 'merge',
  arguments: '{"pr":7}',
  approval_request_id: 'mcpr_7',
  output: 'merged',
  status: 'completed',
} satisfies Item;

const YES = {
  type: 'mcp_approval_response',
  approval_request_id: 'mcpr_7',
  approve: true,
} satisfies InputItem;
const NO = {
  type: 'mcp_approval_response',
  approval_request_id: 'mcpr_8',
  approve: false,
  reason: 'Not on a Friday',
} satisfies InputItem;

const said = (text: string): Item =>
  message('msg_1', [{ type: 'output_text', text, annotations: [] }]);

const inputOf = ({ body }: WireRequest): readonly InputItem[] => body['input'] as InputItem[];

/** If set, the provider stalls in its response to the decisions. */
let stalls = false;

function answer(request: WireRequest): WireAnswer {
  const responses = inputOf(request).filter(({ type }) => type === 'mcp_approval_response');
  if (responses.length === 0) return { events: eventsOf([LISTED, SEVEN, EIGHT]) };
  const isApproved = responses.some((item) => 'approve' in item && item.approve);
  const events = eventsOf(isApproved ? [MERGED, said('Merged 7.')] : [said('Nothing merged.')]);
  return stalls ? { events, breakOff: { after: 3, how: 'stall' } } : { events };
}

let provider: WireServer;
let world: World;

beforeAll(async () => {
  provider = await startWireServer(answer);
  world = await startWorld({
    agents: fileURLToPath(new URL('../fixtures/hosted.ts', import.meta.url)),
    env: { E2E_RESPONSES_URL: provider.url },
  });
});
afterAll(async () => {
  await world.stop();
  await provider.close();
});

/** The inputs of the provider's requests since then. */
function requestsSince(count: number): readonly (readonly InputItem[])[] {
  return provider.requests.slice(count).map(inputOf);
}

describe('a provider that requests approval for a call', () => {
  it('receives each decision under the id of its request, from a worker that did not run at the time of that request', {
    ...promise('G96'),
  }, async () => {
    const before = provider.requests.length;
    const talk = world.talk('decided');
    await talk.begin('hosted', 'Merge 7 and 8');
    const waiting = await talk.waitingCalls(2);
    expect(waiting).toMatchObject([
      {
        toolCallId: 'mcpr_7',
        kind: 'approval',
        name: 'github',
        prompt: { server: 'gh', tool: 'merge', arguments: { pr: 7 } },
      },
      { toolCallId: 'mcpr_8', kind: 'approval' },
    ]);
    await world.stack.worker().kill();
    const approved = talk.resolve('mcpr_7', { type: 'approve' });
    await world.stack.startWorker();
    expect((await approved).body['verdict']).toMatch(/^(accepted|queued)$/);
    // The provider is not called before every request is decided.
    expect(requestsSince(before)).toHaveLength(1);
    const denied = await talk.resolve('mcpr_8', { type: 'deny', reason: 'Not on a Friday' });
    expect(denied.body['verdict']).toBe('accepted');
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'Merged 7.' });
    const [asked, answered, ...others] = requestsSince(before);
    expect(others).toEqual([]);
    expect(asked).toEqual([{ role: 'user', content: 'Merge 7 and 8' }]);
    expect(answered).toEqual([...(asked ?? []), LISTED, SEVEN, EIGHT, YES, NO]);
    expect(await talk.eventsOf('tool_call')).toMatchObject([
      { call: { toolCallId: 'mcpr_7', name: 'github' } },
      { call: { toolCallId: 'mcpr_8', name: 'github' } },
      {
        call: { name: 'github', input: { server: 'gh', tool: 'merge', arguments: { pr: 7 } } },
        executed: true,
      },
    ]);
  });

  it('receives the decisions in every later request as well, and its own items unchanged', {
    ...promise('N22'),
  }, async () => {
    const before = provider.requests.length;
    const talk = world.talk('decided');
    const { status } = await talk.call('/messages', { body: { text: 'Thanks' } });
    expect(status).toBe(202);
    await talk.ended(2);
    const [sent] = requestsSince(before);
    expect(sent).toEqual([
      { role: 'user', content: 'Merge 7 and 8' },
      ...[LISTED, SEVEN, EIGHT, YES, NO, MERGED, said('Merged 7.')],
      { role: 'user', content: 'Thanks' },
    ]);
  });

  it('receives the denials of all requests, and runs nothing', async () => {
    const before = provider.requests.length;
    const talk = world.talk('denied');
    await talk.begin('hosted', 'Merge 7 and 8');
    await talk.waitingCalls(2);
    for (const { id } of [SEVEN, EIGHT]) await talk.resolve(id, { type: 'deny', reason: 'No' });
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'Nothing merged.' });
    const sent = requestsSince(before).at(-1);
    expect(sent?.slice(-2)).toEqual([
      { ...NO, approval_request_id: 'mcpr_7', reason: 'No' },
      { ...NO, reason: 'No' },
    ]);
    expect((await talk.eventsOf('tool_call')).map(({ call }) => call.toolCallId)).toEqual([
      'mcpr_7',
      'mcpr_8',
    ]);
  });

  it('receives the decision again from the next worker if the first was killed during the response', {
    ...promise('G96'),
  }, async () => {
    stalls = true;
    const before = provider.requests.length;
    const talk = world.talk('killed');
    await talk.begin('hosted', 'Merge 7 and 8');
    await talk.waitingCalls(2);
    await talk.resolve('mcpr_7', { type: 'approve' });
    await talk.resolve('mcpr_8', { type: 'deny', reason: 'Not on a Friday' });
    await until('the provider has the decisions', () => requestsSince(before), {
      holds: (requests) => requests.length === 2,
      timeoutMs: PATIENCE_MS,
    });
    await world.stack.worker().kill();
    stalls = false;
    await world.stack.startWorker();
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'Merged 7.' });
    const [, lost, answered, ...others] = requestsSince(before);
    expect(others).toEqual([]);
    expect(answered).toEqual(lost);
    expect(answered?.slice(-2)).toEqual([YES, NO]);
  });
});
