/** Judges the revocation of a remembered decision. Never throws. Pure. */
import { isRecord } from '../../protocol/values/json.js';
import { plainInput } from '../input/plain-input.js';
import type { ConversationState } from '../state/state.js';
import type { Refusal } from './messages.js';
import { misplacedRefusal } from './messages.js';

/**
 * Why a rule cannot be revoked, or undefined. Every actor may revoke: the only effect is that its calls need an
 * approval again.
 */
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
