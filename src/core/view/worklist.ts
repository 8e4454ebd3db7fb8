/** Items of the worklist, and what one actor may do with them: by the audiences that conversations judge by. Pure. */
import { labelsOf } from '../../protocol/calls/executors.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import {
  MAX_PREVIEW_CHARS,
  type WaitingItem,
  type WorklistItem,
} from '../../protocol/log/worklist.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { admittedBy, outsideReason } from '../calls/audience.js';
import { audienceWords } from './sample-answer.js';

/** The item of a pending call. `snapshot`: the state of its conversation. */
export function waitingItem(
  call: PendingCall,
  snapshot: Pick<ConversationSnapshot, 'tenant' | 'conversationId' | 'agent'>,
  requesters: readonly string[],
): WaitingItem {
  const { tenant, conversationId, agent } = snapshot;
  const { ref, toolCallId, turnId, name, executor, kind, openedAt, deadline } = call;
  const { reason, argsDigest, claimBy, claim, audience } = call;
  return {
    ...{ ref, tenant, conversationId, toolCallId, turnId, tool: name },
    ...labelsOf(call),
    ...{ agent: call.agent ?? agent, executor, kind },
    ...previewOf(call.prompt),
    ...(reason === undefined ? {} : { reason }),
    ...(argsDigest === undefined ? {} : { argsDigest }),
    ...{ openedAt, deadline },
    ...(claimBy === undefined ? {} : { claimBy }),
    ...(claim === undefined ? {} : { claim: { by: claim.by, at: claim.at } }),
    ...(audience === undefined ? {} : { audience }),
    requesters,
  };
}

function previewOf(prompt: PendingCall['prompt']): Pick<WaitingItem, 'preview' | 'previewCut'> {
  const json = JSON.stringify(prompt);
  return json.length <= MAX_PREVIEW_CHARS
    ? { preview: json }
    : { preview: cutText(json, MAX_PREVIEW_CHARS), previewCut: true };
}

/** The item as it is shown to an actor. */
export function worklistItem(item: WaitingItem, actor: JudgedActor): WorklistItem {
  const { audience, ...rest } = item;
  return { ...rest, audience: audienceWords(audience), ...mayAnswer(item, actor) };
}

/**
 * Whether the conversation would take an answer of the actor: the actor is in the audience, and no other actor holds
 * the call. The holder has to present the id of the claim, too.
 */
export function mayAnswer(
  { audience = {}, claim, requesters }: Pick<WaitingItem, 'audience' | 'claim' | 'requesters'>,
  actor: JudgedActor,
): Pick<WorklistItem, 'mayAnswer' | 'why'> {
  const outside = outsideReason(audience, actor, requesters);
  if (outside !== undefined) return { mayAnswer: false, why: outside };
  if (claim !== undefined && claim.by !== actor.id)
    return { mayAnswer: false, why: `${claim.by} holds the call` };
  return { mayAnswer: true, why: admittedBy(audience, actor) };
}
