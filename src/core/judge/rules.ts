/** Judges the revocation of a remembered decision. Pure; never throws. */
import type { RuleRevoked } from '../../protocol/log/events.js';
import { actorFrom } from '../../protocol/values/actors.js';
import type { PlainRecord } from '../input/plain-input.js';
import type { ConversationState } from '../state/state.js';
import { invalidRequest, type Judged, type Refusal } from './judged.js';
import { misplacedRefusal } from './messages.js';

/** Every actor may revoke: the only effect is that calls of the rule need an approval again. */
export function judgeRevocation(
  state: ConversationState,
  { ruleId, actor }: PlainRecord,
): Judged<RuleRevoked, Refusal<never>> {
  if (typeof ruleId !== 'string' || ruleId === '') {
    const message = 'must be a non-empty string';
    return invalidRequest(message, [{ path: '/ruleId', message }]);
  }
  if (state.rules?.some((rule) => rule.ruleId === ruleId) !== true)
    return { refusal: { code: 'unknown_rule', message: `No rule "${ruleId.slice(0, 200)}"` } };
  const refusal = misplacedRefusal(state, undefined);
  return refusal === undefined
    ? { accepted: { type: 'rule_revoked', ruleId, actor: actorFrom(actor) } }
    : { refusal };
}
