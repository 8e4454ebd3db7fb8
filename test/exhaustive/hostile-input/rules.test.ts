/** Every way to make, match and revoke a remembered decision, with any decisions remembered already. */

import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import { MAX_RULES } from '../../../src/protocol/limits/limits.js';
import {
  APPROVE,
  actor,
  DENY,
  gatedCall,
  modelCalls,
  modelSays,
} from '../../support/builders/core-builders.js';
import { closeConversation, revokeRule } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { stateTable, type TableInput } from '../../support/schedules/state-table.js';

const gated = (id: string, over: Partial<PlannedCall> = {}): PlannedCall =>
  gatedCall(id, { input: { to: 'ann', cents: 5 }, ...over });
const remembering = (type: 'approve' | 'deny', remember: unknown): Resolution =>
  ({ type, remember }) as Resolution;

const resolving = (resolution: unknown): TableInput => ({
  enter: (m) => m.resolve('c', resolution as Resolution, { requestId: 'new' }).verdict,
  refused: 'invalid',
});
const revoking = (input: (m: MachineUnderTest) => unknown): TableInput => ({
  enter: (m) => {
    const outcome = revokeRule(m.machine, input(m));
    return 'reply' in outcome ? 'revoked' : outcome.refusal.code;
  },
  refused: 'unknown_rule',
});
/** The model asks for a gated call in its next answer, where a model call is due. */
const calling = (over: Partial<PlannedCall>): TableInput => ({
  enter: (m) => {
    const { turn } = m.state;
    if (turn !== undefined) m.modelCompleted(turn, modelCalls([gated('n', over)]));
    return undefined;
  },
  refused: '-',
});

const INPUTS = {
  approve: resolving(APPROVE),
  forTurn: resolving(remembering('approve', { for: 'turn' })),
  forConversation: resolving(remembering('approve', { for: 'conversation' })),
  denyForConversation: resolving(remembering('deny', { for: 'conversation' })),
  match: resolving(remembering('approve', { for: 'turn', match: { '/to': 'ann' } })),
  wrongMatch: resolving(remembering('approve', { for: 'turn', match: { '/to': 'bob' } })),
  emptyMatch: resolving(remembering('approve', { for: 'turn', match: {} })),
  prototypeMatch: resolving(
    remembering('approve', { for: 'turn', match: { '/__proto__/polluted': true } }),
  ),
  forEver: resolving(remembering('approve', { for: 'ever' })),
  garbage: resolving(remembering('approve', 7)),
  withEdit: resolving({ ...remembering('approve', { for: 'turn' }), input: { to: 'bob' } }),
  revoke: revoking((m) => ({ ruleId: m.state.rules?.[0]?.ruleId ?? 'rule_x' })),
  revokeUnknown: revoking(() => ({ ruleId: '__proto__' })),
  revokeGarbage: { ...revoking(() => null), refused: 'invalid_request' },
  sameTool: calling({}),
  sameToolOtherInput: calling({ input: { to: 'bob' } }),
  otherTool: calling({ name: 'other.tool' }),
  otherAudience: calling({ approval: { needed: true, audience: { users: ['cfo'] } } }),
  ungated: calling({ approval: { needed: false } }),
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

/** `c` waits for its approval; `d`, of the same tool, was decided like this. */
const waiting = (...decisions: readonly Resolution[]): MachineUnderTest => {
  const others = decisions.map((_, index) => gated(`d${index}`));
  const m = aMachineWith(modelCalls([gated('c'), ...others]));
  for (const [index, decision] of decisions.entries())
    m.resolve(`d${index}`, decision, { actor: actor('ben') });
  return m;
};
/** A model call is due; the step before it remembered this decision. */
const due = (decision: Resolution): MachineUnderTest => {
  const m = waiting(decision);
  m.resolve('c', DENY);
  return decision.type === 'approve' ? m.tool('d0') : m;
};
const nextTurn = (decision: Resolution): MachineUnderTest => {
  const m = due(decision).model(modelSays('done'));
  m.send('again');
  return m;
};
const full = (): MachineUnderTest => {
  const m = aMachineWith(
    modelCalls([
      gated('c'),
      ...Array.from({ length: MAX_RULES }, (_, n) => gated(`d${n}`, { input: { n } })),
    ]),
  );
  for (let n = 0; n < MAX_RULES; n += 1)
    m.resolve(`d${n}`, remembering('deny', { for: 'turn', match: { '/n': n } }));
  return m;
};
const YES = remembering('approve', { for: 'conversation' });
const NO = remembering('deny', { for: 'conversation' });

type Cells = Readonly<Partial<Record<Input, string>>>;
const DECIDED: Cells = {
  approve: 'stale',
  forTurn: 'stale',
  forConversation: 'stale',
  denyForConversation: 'stale',
  match: 'stale',
  wrongMatch: 'stale',
  emptyMatch: 'stale',
  prototypeMatch: 'stale',
  forEver: 'stale',
  garbage: 'stale',
  withEdit: 'stale',
};

const ASKED: Cells = {
  approve: 'accepted: resolution',
  forTurn: 'accepted: resolution rule_remembered',
  forConversation: 'accepted: resolution rule_remembered',
  denyForConversation: 'accepted: resolution rule_remembered tool_result',
  match: 'accepted: resolution rule_remembered',
};

stateTable<Input>('rules that', promise('G129'), INPUTS, {
  'are none, while a call waits': { build: () => waiting(), cells: { ...ASKED } },
  'allow, while a call waits': {
    build: () => waiting(YES),
    cells: { ...ASKED, revoke: 'revoked: rule_revoked' },
  },
  'deny, while a call waits': {
    build: () => waiting(NO),
    cells: { ...ASKED, revoke: 'revoked: rule_revoked' },
  },
  'are as many as there may be': {
    build: full,
    cells: { approve: 'accepted: resolution', revoke: 'revoked: rule_revoked' },
  },
  'are none': {
    build: () => due(APPROVE),
    cells: {
      ...DECIDED,
      sameTool: '-: model_call assistant_message tool_call suspension',
      sameToolOtherInput: '-: model_call assistant_message tool_call suspension',
      otherTool: '-: model_call assistant_message tool_call suspension',
      otherAudience: '-: model_call assistant_message tool_call suspension',
      ungated: '-: model_call assistant_message tool_call',
    },
  },
  allow: {
    build: () => due(YES),
    cells: {
      ...DECIDED,
      revoke: 'revoked: rule_revoked',
      sameTool: '-: model_call assistant_message tool_call resolution',
      sameToolOtherInput: '-: model_call assistant_message tool_call resolution',
      otherTool: '-: model_call assistant_message tool_call suspension',
      otherAudience: '-: model_call assistant_message tool_call suspension',
      ungated: '-: model_call assistant_message tool_call',
    },
  },
  'allow for a match': {
    build: () => due(remembering('approve', { for: 'turn', match: { '/to': 'ann' } })),
    cells: {
      ...DECIDED,
      revoke: 'revoked: rule_revoked',
      sameTool: '-: model_call assistant_message tool_call resolution',
      sameToolOtherInput: '-: model_call assistant_message tool_call suspension',
      otherTool: '-: model_call assistant_message tool_call suspension',
      otherAudience: '-: model_call assistant_message tool_call suspension',
      ungated: '-: model_call assistant_message tool_call',
    },
  },
  deny: {
    build: () => due(NO),
    cells: {
      ...DECIDED,
      revoke: 'revoked: rule_revoked',
      sameTool: '-: model_call assistant_message tool_call resolution tool_result',
      sameToolOtherInput: '-: model_call assistant_message tool_call resolution tool_result',
      otherTool: '-: model_call assistant_message tool_call suspension',
      otherAudience: '-: model_call assistant_message tool_call suspension',
      ungated: '-: model_call assistant_message tool_call',
    },
  },
  'allow in the next turn': {
    build: () => nextTurn(YES),
    cells: {
      ...DECIDED,
      revoke: 'revoked: rule_revoked',
      sameTool: '-: model_call assistant_message tool_call resolution',
      sameToolOtherInput: '-: model_call assistant_message tool_call resolution',
      otherTool: '-: model_call assistant_message tool_call suspension',
      otherAudience: '-: model_call assistant_message tool_call suspension',
      ungated: '-: model_call assistant_message tool_call',
    },
  },
  'allowed for the turn before': {
    build: () => nextTurn(remembering('approve', { for: 'turn' })),
    cells: {
      ...DECIDED,
      sameTool: '-: model_call assistant_message tool_call suspension',
      sameToolOtherInput: '-: model_call assistant_message tool_call suspension',
      otherTool: '-: model_call assistant_message tool_call suspension',
      otherAudience: '-: model_call assistant_message tool_call suspension',
      ungated: '-: model_call assistant_message tool_call',
    },
  },
  'were closed with their conversation': {
    build: () => {
      const m = waiting(YES);
      closeConversation(m.machine);
      return m;
    },
    cells: { ...DECIDED, revoke: 'conversation_closed' },
  },
});
