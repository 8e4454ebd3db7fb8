/** Changes of a plugin's state, carried out on a value. Pure; the workflow and its workers get the same result. */
import type { StateChange } from '../../protocol/calls/plugin-state.js';
import { isRecord, type Json } from '../../protocol/values/json.js';

export type Changed = { readonly value: Json } | { readonly problem: string };

/** The value after all changes, or why one of them does not fit. `before`: undefined where there is no state yet. */
export function withChanges(before: Json | undefined, changes: readonly StateChange[]): Changed {
  let value = before;
  for (const change of changes) {
    const keys = keysOf(change.path);
    if (keys === undefined)
      return { problem: `path "${shownPath(change.path)}" is no JSON Pointer` };
    const changed = at(value, keys, change);
    if ('problem' in changed)
      return { problem: `${change.op} at "${shownPath(change.path)}": ${changed.problem}` };
    value = changed.value;
  }
  // A state that was removed as a whole is empty.
  return { value: value ?? {} };
}

/** The keys of a JSON Pointer (RFC 6901). */
function keysOf(path: string): readonly string[] | undefined {
  if (path === '') return [];
  if (!path.startsWith('/')) return undefined;
  return path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function shownPath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

/** `value` undefined: nothing is left at this place. */
type ChangedPlace = { readonly value: Json | undefined } | { readonly problem: string };

function at(
  value: Json | undefined,
  [key, ...deeper]: readonly string[],
  change: StateChange,
): ChangedPlace {
  if (key === undefined) return changedValue(value, change);
  if (Array.isArray(value)) return atItem(value as readonly Json[], [key, ...deeper], change);
  if (value !== undefined && !isRecord(value)) return { problem: `no object above "${key}"` };
  const fields = value ?? {};
  const before = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (before === undefined && change.op === 'remove') return { value };
  const changed = at(before, deeper, change);
  if ('problem' in changed) return changed;
  const { [key]: _before, ...others } = fields;
  if (changed.value === undefined) return { value: others };
  return { value: { ...fields, [key]: changed.value } };
}

function atItem(
  items: readonly Json[],
  [key = '', ...deeper]: readonly string[],
  change: StateChange,
): ChangedPlace {
  const index = key === '-' ? items.length : /^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : -1;
  if (index < 0 || index > items.length)
    return { problem: `no item "${key}" in a list of ${items.length}` };
  const changed = at(items[index], deeper, change);
  if ('problem' in changed) return changed;
  const rest = items.slice(index + 1);
  const item = changed.value === undefined ? [] : [changed.value];
  return { value: [...items.slice(0, index), ...item, ...rest] };
}

function changedValue(value: Json | undefined, change: StateChange): ChangedPlace {
  switch (change.op) {
    case 'set':
      return { value: change.value };
    case 'remove':
      return { value: undefined };
    case 'increment': {
      const sum = (value ?? 0) as number;
      if (typeof sum !== 'number') return { problem: 'the value is no number' };
      const value_ = sum + change.by;
      return Number.isFinite(value_) ? { value: value_ } : { problem: 'the sum is too large' };
    }
    case 'append': {
      const items = value ?? [];
      if (!Array.isArray(items)) return { problem: 'the value is no list' };
      return { value: [...(items as readonly Json[]), ...change.values] };
    }
  }
}
