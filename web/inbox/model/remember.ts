/** Decisions that are remembered for later calls: as a person chooses them, and in words. Pure. */
import type { Json, Remember, Rule } from 'colloquy/browser';
import { MAX_RULE_MATCH_BYTES, MAX_RULE_MATCHES, matchesInput } from 'colloquy/browser/worklist';
import { agoWords } from 'colloquy/react';

/** The fields of the input that a rule may match, within the bounds of the conversation. */
export function matchable(input: Json | undefined): readonly (readonly [string, Json])[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [];
  let left = MAX_RULE_MATCH_BYTES;
  return Object.entries(input as Readonly<Record<string, Json>>)
    .filter(([name, value]) => {
      const bytes = new TextEncoder().encode(JSON.stringify([pointerOf(name), value])).length;
      if (bytes > left) return false;
      left -= bytes;
      return true;
    })
    .slice(0, MAX_RULE_MATCHES);
}

/** With or without the demand that later calls have this value. */
export function withMatch(
  remember: Remember,
  [name, value]: readonly [string, Json],
  isOn: boolean,
): Remember {
  const { [pointerOf(name)]: _before, ...others } = remember.match ?? {};
  const match = isOn ? { ...others, [pointerOf(name)]: value } : others;
  return Object.keys(match).length === 0 ? { for: remember.for } : { for: remember.for, match };
}

export function isMatched({ match = {} }: Remember, name: string): boolean {
  return Object.hasOwn(match, pointerOf(name));
}

/** JSON Pointer (RFC 6901) of a field. */
function pointerOf(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** `later calls of pay in this conversation with to = "x"` */
export function scopeWords(tool: string, { for: scope, match = {} }: Remember): string {
  const entries = Object.entries(match).map(
    ([pointer, value]) => `${nameOf(pointer)} = ${JSON.stringify(value)}`,
  );
  const whose = scope === 'turn' ? 'until this turn ends' : 'in this conversation';
  const which = entries.length === 0 ? 'whatever their arguments' : `with ${entries.join(' and ')}`;
  return `later calls of ${tool} ${whose}, ${which}`;
}

function nameOf(pointer: string): string {
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
}

export interface KnownRule {
  readonly rule: Rule;
  /** `Lena approves later calls of pay …, remembered 3 s ago` */
  readonly text: string;
  /** Whether it would decide a call with these arguments. */
  readonly fits: boolean;
}

/** The remembered decisions on calls of the tool, newest first. */
export function knownRules(
  rules: readonly Rule[] | undefined,
  call: { readonly tool: string; readonly input: Json | undefined; readonly turnId: string },
  now: number,
): readonly KnownRule[] {
  return (rules ?? [])
    .filter(
      ({ tool, turnId }) => tool === call.tool && (turnId === undefined || turnId === call.turnId),
    )
    .map((rule) => {
      const { decision, actor, tool, at } = rule;
      const verb = decision === 'approve' ? 'approves' : 'denies';
      const text = `${actor.name ?? actor.id} ${verb} ${scopeWords(tool, rule)}, remembered ${agoWords(at, now)}`;
      const fits = call.input !== undefined && matchesInput(rule.match, call.input);
      return { rule, text, fits };
    })
    .toReversed();
}
