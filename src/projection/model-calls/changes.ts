/** Compares the requests of two model calls. Pure. */
import type { Message } from '../../protocol/conversation/messages.js';
import type { ModelTool } from '../../protocol/model/model.js';
import type { RequestChanges, ShownRequest } from '../../protocol/model/model-calls.js';
import { canonicalJson } from '../../protocol/values/json.js';

/** Fields that say how a provider may cache the request, and not what the model reads. */
const OF_CACHES: readonly string[] = ['messages', 'tools', 'stableMessages', 'cacheKey'];

/** @param isWhole whether both requests are known with all their fields */
export function changesOf(
  { before, since }: { readonly before: ShownRequest; readonly since: number },
  after: ShownRequest,
  isWhole: boolean,
): RequestChanges {
  const old = new Map(before.messages.map((message) => [message.id, message]));
  const ids = new Set(after.messages.map(({ id }) => id));
  const differs = (message: Message): boolean => {
    const known = old.get(message.id);
    return known !== undefined && textOf(known) !== textOf(message);
  };
  const first = after.messages.findIndex((message, index) => {
    const known = before.messages[index];
    return known === undefined || textOf(known) !== textOf(message);
  });
  return {
    since,
    same: first < 0 ? after.messages.length : first,
    added: after.messages.map(({ id }) => id).filter((id) => !old.has(id)),
    removed: before.messages.map(({ id }) => id).filter((id) => !ids.has(id)),
    changed: after.messages
      .filter(differs)
      .flatMap(({ id }) => before.messages.find((message) => message.id === id) ?? []),
    ...(isWhole
      ? { tools: toolChanges(before, after), settings: settingChanges(before, after) }
      : {}),
  };
}

function toolChanges(
  before: ShownRequest,
  after: ShownRequest,
): NonNullable<RequestChanges['tools']> {
  const [old, now] = [byName(before.tools), byName(after.tools)];
  const names = [...now.keys()];
  return {
    added: names.filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: names.filter((name) => old.has(name) && old.get(name) !== now.get(name)),
  };
}

function byName(tools: readonly ModelTool[] = []): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, textOf(tool)]));
}

function settingChanges(before: ShownRequest, after: ShownRequest): readonly string[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const names = new Set([...old.keys(), ...now.keys()]);
  return [...names].filter((name) => old.get(name) !== now.get(name)).toSorted();
}

function fieldsOf(request: ShownRequest): ReadonlyMap<string, string> {
  const fields = Object.entries(request).filter(([name]) => !OF_CACHES.includes(name));
  return new Map(fields.map(([name, value]) => [name, textOf(value)]));
}

function textOf(value: unknown): string {
  return canonicalJson(value);
}
