/**
 * Remembered decisions: which may be made, which decides a call, and how one is revoked. Pure; takes what came over the wire
 * and never throws on it.
 */
import { actorFrom, type StampedActor } from '../protocol/actors.js';
import type { EventBody } from '../protocol/events.js';
import { canonicalJson, isBoundedJson, isRecord, type Json, utf8Bytes } from '../protocol/json.js';
import {
  MAX_ANSWER_DEPTH,
  MAX_RULE_MATCH_BYTES,
  MAX_RULE_MATCHES,
  MAX_RULES,
} from '../protocol/limits.js';
import type { FieldProblem, Resolution } from '../protocol/resolutions.js';
import { type RevokeRuleReply, type Rule, ruleKey } from '../protocol/rules.js';
import { outsideReason, requestersOf } from './audience.js';
import { plainInput } from './input.js';
import { misplacedRefusal, type Refusal } from './judge-message.js';
import type { ConversationMachine } from './machine.js';
import type { CallState, ConversationState } from './state.js';

const PATH = '/resolution/remember';

/** Why a decision on this call cannot be remembered like that. */
export function rememberProblems(
  state: ConversationState,
  call: CallState,
  resolution: Readonly<Record<string, unknown>>,
): readonly FieldProblem[] {
  const { remember, input } = resolution;
  if (remember === undefined) return [];
  if (!isRecord(remember)) return [{ path: PATH, message: 'must be an object such as {for}' }];
  const problems: FieldProblem[] = Object.keys(remember)
    .filter((field) => field !== 'for' && field !== 'match')
    .map((field) => ({ path: `${PATH}/${field}`, message: 'is not supported here' }));
  const { for: scope, match } = remember;
  const isScope = scope === 'turn' || scope === 'conversation';
  if (!isScope) problems.push({ path: `${PATH}/for`, message: 'must be "turn" or "conversation"' });
  const planned = call.plan.input ?? null;
  if (input !== undefined && canonicalJson(input) !== canonicalJson(planned))
    problems.push({ path: PATH, message: 'an edit of one call says nothing about others' });
  const faults = matchProblems(match, planned);
  if (!isScope || faults.length + problems.length > 0) return [...problems, ...faults];
  const matched = match === undefined ? {} : { match: match as NonNullable<Rule['match']> };
  const key = keyFor(call, { for: scope, ...matched });
  const others = (state.rules ?? []).filter((rule) => ruleKey(rule) !== key);
  return others.length < MAX_RULES
    ? []
    : [{ path: PATH, message: `there are ${MAX_RULES} rules already; revoke one first` }];
}

type Remembered = Pick<Rule, 'for' | 'match'>;

function keyFor(call: CallState, remember: Remembered): string {
  const { plan, turnId } = call;
  const ofTurn = remember.for === 'turn' ? { turnId } : {};
  return ruleKey({ ...remember, ...ofTurn, tool: plan.name } as Rule);
}

function matchProblems(match: unknown, input: Json): readonly FieldProblem[] {
  const path = `${PATH}/match`;
  if (match === undefined) return [];
  if (!isRecord(match)) return [{ path, message: 'must map JSON Pointers to values' }];
  if (!isBoundedJson(match, MAX_ANSWER_DEPTH)) return [{ path, message: 'must be JSON' }];
  const entries = Object.entries(match);
  if (entries.length === 0)
    return [{ path, message: 'must name a field, or be left out to mean any input' }];
  if (entries.length > MAX_RULE_MATCHES)
    return [{ path, message: `must name at most ${MAX_RULE_MATCHES} fields` }];
  if (utf8Bytes(JSON.stringify(match)) > MAX_RULE_MATCH_BYTES)
    return [{ path, message: `must be at most ${MAX_RULE_MATCH_BYTES} bytes` }];
  return entries
    .filter(([pointer, value]) => !equalsAt(input, pointer, value as Json))
    .map(([pointer]) => ({
      path: `${path}/${pointer.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message: 'is not so in this call: a JSON Pointer such as "/to", and the value there',
    }));
}

function equalsAt(input: Json, pointer: string, value: Json): boolean {
  const found = valueAt(input, pointer);
  return found !== undefined && canonicalJson(found) === canonicalJson(value);
}

/** What stands at a JSON Pointer; undefined when nothing of the input's own does. */
function valueAt(input: Json, pointer: string): Json | undefined {
  if (pointer !== '' && !pointer.startsWith('/')) return undefined;
  let value: Json | undefined = input;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(key)) return undefined;
    value = (value as Readonly<Record<string, Json | undefined>>)[key];
  }
  return value;
}

/** What `remember` may hold, and nothing else. */
export function rememberOf({ remember }: { readonly remember?: Remembered }): {
  remember?: Remembered;
} {
  if (remember === undefined) return {};
  const { for: scope, match } = remember;
  return { remember: { for: scope, ...(match === undefined ? {} : { match }) } };
}

/** The rule that an accepted decision leaves, to be recorded behind it. */
export function rememberedEvents(
  state: ConversationState,
  call: CallState,
  accepted: { readonly resolution: Resolution; readonly actor: StampedActor },
): readonly EventBody[] {
  const { resolution, actor } = accepted;
  if (resolution.type !== 'approve' && resolution.type !== 'deny') return [];
  const { remember } = resolution;
  if (remember === undefined) return [];
  const rule: Omit<Rule, 'at'> = {
    // Its decision is recorded next, so no other rule of this chain can have it.
    ruleId: `rule_${state.chain}_${state.lastSeq + 1}`,
    tool: call.plan.name,
    decision: resolution.type,
    ...(resolution.type === 'deny' && resolution.reason !== undefined
      ? { reason: resolution.reason }
      : {}),
    ...remember,
    actor,
    ...(remember.for === 'turn' ? { turnId: call.turnId } : {}),
  };
  return [{ type: 'rule_remembered', rule }];
}

/** The rule that decides a call which is about to ask for an approval for the first time. */
export function ruleFor(state: ConversationState, call: CallState): Rule | undefined {
  const { plan, suspension, approver, edit, result, reopenUntil } = call;
  if (state.rules === undefined || !plan.approval.needed || plan.error !== undefined)
    return undefined;
  // It was decided about what the call was before.
  if (call.revised === true) return undefined;
  const isDecided = approver !== undefined || edit !== undefined || result !== undefined;
  if (isDecided || suspension !== undefined || reopenUntil !== undefined) return undefined;
  const { audience } = plan.approval;
  const requesters = requestersOf(state, call);
  const input = plan.input ?? null;
  const fitting = state.rules.filter(
    ({ tool, turnId, match, actor }) =>
      tool === plan.name &&
      (turnId === undefined || turnId === call.turnId) &&
      Object.entries(match ?? {}).every(([pointer, value]) => equalsAt(input, pointer, value)) &&
      (audience === undefined || outsideReason(audience, actor, requesters) === undefined),
  );
  return fitting.find(({ decision }) => decision === 'deny') ?? fitting.at(-1);
}

/** Why a rule cannot be revoked, or undefined. Anybody may revoke: its calls are asked about again, no more. */
export function refuseRevocation(state: ConversationState, received: unknown): Refusal | undefined {
  const input = plainInput(received);
  const ruleId = isRecord(input) ? input['ruleId'] : undefined;
  if (typeof ruleId !== 'string' || ruleId === '') {
    const message = 'must be a non-empty string';
    return { code: 'invalid_request', message, problems: [{ path: '/ruleId', message }] };
  }
  return state.rules?.some((rule) => rule.ruleId === ruleId) === true
    ? misplacedRefusal(state, undefined)
    : { code: 'unknown_rule', message: `No rule "${ruleId.slice(0, 200)}"` };
}

/** Revokes a rule, or says why not. Synchronous and total. */
export function revokeRule(
  machine: ConversationMachine,
  received: unknown,
): { readonly reply: RevokeRuleReply } | { readonly refusal: Refusal } {
  const input = plainInput(received);
  const refusal = refuseRevocation(machine.state, input);
  if (refusal !== undefined || !isRecord(input))
    return { refusal: refusal ?? { code: 'invalid_request', message: 'must be an object' } };
  const ruleId = String(input['ruleId']);
  const seq = machine.record([{ type: 'rule_revoked', ruleId, actor: actorFrom(input['actor']) }]);
  return { reply: { ruleId, seq } };
}
