/** Remembered decisions: an approver's decision for later calls of the same tool. Wire format: only ever extended. */
import type { Actor, StampedActor } from '../values/actors.js';
import type { TurnId } from '../values/ids.js';
import { canonicalJson, type Json } from '../values/json.js';

export type RuleScope = 'turn' | 'conversation';

/** A field of `approve` and `deny`. */
export interface Remember {
  /** A rule of a turn ends with it. */
  readonly for: RuleScope;
  /** JSON Pointers into the input and the values required there. Absent = any input. */
  readonly match?: Readonly<Record<string, Json>>;
}

/**
 * A remembered decision. Decides only calls that wait for an approval, only where its author is in their audience, and
 * never against a policy that denies. Where several match, a denial wins.
 */
export interface Rule extends Remember {
  readonly ruleId: string;
  /** Name of the tool. */
  readonly tool: string;
  readonly decision: 'approve' | 'deny';
  readonly reason?: string;
  readonly actor: StampedActor;
  /** ISO 8601. */
  readonly at: string;
  /** Present on rules of a turn. */
  readonly turnId?: TurnId;
}

/** Payload of the update `revokeRule`. */
export interface RevokeRuleInput {
  readonly ruleId: string;
  readonly requestId?: string;
  readonly actor?: Actor | StampedActor;
}

export interface RevokeRuleReply {
  readonly ruleId: string;
  /** Sequence number of the recorded revocation. */
  readonly seq: number;
}

/** Equal for two rules of which the newer replaces the older: same tool, scope and match. */
export function ruleKey({ tool, for: scope, turnId, match }: Omit<Rule, 'ruleId'>): string {
  return canonicalJson([tool, scope, turnId ?? null, match ?? {}]);
}

/** The rules with a new one, which replaces any with the same key. */
export function withRule(
  rules: readonly Rule[] | undefined,
  rule: Rule,
): { rules: readonly Rule[] } {
  const others = (rules ?? []).filter((known) => ruleKey(known) !== ruleKey(rule));
  return { rules: [...others, rule] };
}

/** The holder without some of its rules. The field `rules` is removed when none is left. */
export function withoutRules<Holder extends { readonly rules?: readonly Rule[] }>(
  holder: Holder,
  gone: (rule: Rule) => boolean,
): Holder {
  if (holder.rules === undefined) return holder;
  const { rules, ...rest } = holder;
  const left = rules.filter((rule) => !gone(rule));
  return (left.length === 0 ? rest : { ...rest, rules: left }) as Holder;
}

/** Whether the input has each value of a rule, by JSON Pointer (RFC 6901). A rule without any matches every input. */
export function matchesInput(match: Rule['match'], input: Json): boolean {
  return Object.entries(match ?? {}).every(([pointer, value]) => {
    const found = valueAt(input, pointer);
    return found !== undefined && canonicalJson(found) === canonicalJson(value);
  });
}

/** The value at a JSON Pointer; undefined when the input has no own value there. */
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
