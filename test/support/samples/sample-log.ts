/** A small conversation as its log: one turn that asked a person, was answered and ended. */
import { resolutionDigest } from '../../../src/protocol/calls/resolutions.js';
import type { AgentManifest } from '../../../src/protocol/conversation/agents.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';

export const SUPPORT: AgentManifest = {
  name: 'support',
  model: 'scripted',
  settings: { maxSteps: 25, onBusy: 'reject', idleCloseMs: 1000, coreRevision: 1 },
  tools: [],
};

const USAGE = { inputTokens: 3, outputTokens: 2 };
const ANN = { id: 'ann', verified: true, channel: 'client' } as const;
export const TURN = 'turn_abc_1';
export const CALL = 'call_1';

/** Seqs 1 to 9; `closed` adds the tenth. */
export function sampleLog(
  conversationId: string,
  options: { closed?: boolean } = {},
): CanonicalEvent[] {
  const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
  const events: CanonicalEvent[] = [
    {
      type: 'conversation_started',
      seq: 1,
      at: at(0),
      tenant: 'default',
      conversationId,
      agent: 'support',
      chain: 'abc',
      settings: SUPPORT.settings,
    },
    {
      type: 'user_message',
      seq: 2,
      at: at(0),
      turnId: TURN,
      messageId: 'm_1',
      requestId: 'first',
      parts: [{ type: 'text', text: 'Hello' }],
      actor: ANN,
    },
    { type: 'turn_started', seq: 3, at: at(1), turnId: TURN, messageId: 'm_1' },
    {
      type: 'tool_call',
      seq: 4,
      at: at(2),
      turnId: TURN,
      step: 1,
      call: {
        toolCallId: CALL,
        name: 'customer.ask',
        executor: 'human',
        mode: 'await',
        input: { question: 'Which?' },
        approval: { needed: false },
        timeouts: { approvalMs: 1, answerMs: 60_000, runMs: 1 },
        effects: 'none',
        maxAttempts: 1,
        lateResult: 'reject',
      },
    },
    {
      type: 'suspension',
      seq: 5,
      at: at(2),
      suspension: {
        toolCallId: CALL,
        turnId: TURN,
        name: 'customer.ask',
        executor: 'human',
        kind: 'elicitation',
        prompt: { question: 'Which?' },
        openedAt: at(2),
        deadline: '2026-01-01T00:01:02.000Z',
      },
    },
    {
      type: 'resolution',
      seq: 6,
      at: at(3),
      turnId: TURN,
      toolCallId: CALL,
      kind: 'elicitation',
      resolution: { type: 'answer', value: 'the first' },
      requestId: 'answer-1',
      actor: ANN,
      digest: resolutionDigest({ type: 'answer', value: 'the first' }),
    },
    {
      type: 'tool_result',
      seq: 7,
      at: at(3),
      turnId: TURN,
      toolCallId: CALL,
      name: 'customer.ask',
      result: {
        status: 'resolved',
        envelope: { ok: true, result: 'the first' },
        provenance: 'untrusted',
        actor: ANN,
      },
    },
    {
      type: 'assistant_message',
      seq: 8,
      at: at(4),
      turnId: TURN,
      step: 2,
      messageId: `${TURN}.2`,
      parts: [{ type: 'text', text: 'Zażółć 🙂\nDone' }],
    },
    {
      type: 'turn_ended',
      seq: 9,
      at: at(4),
      turnId: TURN,
      status: 'completed',
      text: 'Zażółć 🙂\nDone',
      steps: 2,
      usage: USAGE,
    },
  ];
  if (options.closed === true)
    events.push({
      type: 'conversation_closed',
      seq: 10,
      at: at(5),
      reason: 'requested',
      actor: ANN,
    });
  return events;
}
