/** Lets the machine revoke remembered decisions. Pure. */
import type { RevokeRuleReply } from '../../protocol/calls/rules.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { isRecord } from '../../protocol/values/json.js';
import { plainInput } from '../input/plain-input.js';
import type { Refusal } from '../judge/messages.js';
import { refuseRevocation } from '../judge/rules.js';
import type { ConversationMachine } from './machine.js';

/** Revokes a rule, or returns the refusal. Synchronous and total. */
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
