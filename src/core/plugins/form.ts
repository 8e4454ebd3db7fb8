/** The form of patches. Workers may be written in any language, and what they send is in the history for ever. Pure. */
import type { StateChange, StatePatch } from '../../protocol/calls/plugin-state.js';
import {
  MAX_ID_CHARS,
  MAX_PATCHES,
  MAX_PLUGIN_STATE_DEPTH,
  MAX_STATE_CHANGES,
} from '../../protocol/limits/limits.js';
import { isBoundedJson, isRecord } from '../../protocol/values/json.js';

export function areStatePatches(value: unknown): value is readonly StatePatch[] {
  return Array.isArray(value) && value.length <= MAX_PATCHES && value.every(isStatePatch);
}

function isStatePatch(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { plugin, version, changes } = value;
  return (
    typeof plugin === 'string' &&
    plugin.length <= MAX_ID_CHARS &&
    Number.isSafeInteger(version) &&
    Array.isArray(changes) &&
    changes.length <= MAX_STATE_CHANGES &&
    changes.every(isStateChange)
  );
}

const FORMS: Readonly<Record<StateChange['op'], (change: Record<string, unknown>) => boolean>> = {
  set: ({ value }) => value !== undefined && isBoundedJson(value, MAX_PLUGIN_STATE_DEPTH),
  increment: ({ by }) => typeof by === 'number' && Number.isFinite(by),
  append: ({ values }) => Array.isArray(values) && isBoundedJson(values, MAX_PLUGIN_STATE_DEPTH),
  remove: () => true,
};

export function isStateChange(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { op, path } = value;
  if (typeof op !== 'string' || typeof path !== 'string' || path.length > 1_000) return false;
  return Object.hasOwn(FORMS, op) && FORMS[op as StateChange['op']](value);
}
