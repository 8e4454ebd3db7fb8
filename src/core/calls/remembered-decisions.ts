/** Remembered decisions: rules that an approver asks for, and the rule that decides a call. Pure. */
import type { Rule } from '../../protocol/calls/rules.js';
import { matchesInput, ruleKey } from '../../protocol/calls/rules.js';
import {
  MAX_ANSWER_DEPTH,
  MAX_RULE_MATCH_BYTES,
  MAX_RULE_MATCHES,
  MAX_RULES,
} from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { Json } from '../../protocol/values/json.js';
import { canonicalJson, isBoundedJson, isRecord, utf8Bytes } from '../../protocol/values/json.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';
import { outsideReason, requestersOf } from './audience.js';

const PATH = '/resolution/remember';

/** Why a decision on this call cannot be remembered in the requested form. */
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
    problems.push({
      path: PATH,
      message: 'cannot be combined with an edited input, which applies to this call alone',
    });
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
    .filter(([pointer, value]) => !matchesInput({ [pointer]: value as Json }, input))
    .map(([pointer]) => ({
      path: `${path}/${pointer.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message:
        'does not match this call: must be a JSON Pointer such as "/to", with its value in the input',
    }));
}

/** Copies the fields that `remember` may have, and no others. */
export function rememberOf({ remember }: { readonly remember?: Remembered }): {
  remember?: Remembered;
} {
  if (remember === undefined) return {};
  const { for: scope, match } = remember;
  return { remember: { for: scope, ...(match === undefined ? {} : { match }) } };
}

/** The rule that decides a call which is about to ask for an approval for the first time. */
export function ruleFor(state: ConversationState, call: CallState): Rule | undefined {
  const { plan, suspension, approver, edit, result, reopenUntil } = call;
  if (state.rules === undefined || !plan.approval.needed || plan.error !== undefined)
    return undefined;
  // The rule was made for the call before it was carried over to another definition.
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
      matchesInput(match, input) &&
      (audience === undefined || outsideReason(audience, actor, requesters) === undefined),
  );
  return fitting.find(({ decision }) => decision === 'deny') ?? fitting.at(-1);
}
