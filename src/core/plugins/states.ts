/** The states of plugins within that of the conversation: patches are judged, applied and kept for workers. Pure. */
import type {
  PatchRefusal,
  PatchSource,
  PluginState,
  PluginStates,
  StatePatch,
  StatePatchEvent,
  StatesNow,
  StatesRef,
} from '../../protocol/calls/plugin-state.js';
import { statesHash } from '../../protocol/calls/plugin-state.js';
import { MAX_PLUGIN_STATES_BYTES, MAX_RECENT_PATCH_BYTES } from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { PluginMemory } from '../state/plugins.js';
import type { ConversationState } from '../state/state.js';
import { withChanges } from './changes.js';

const NOTHING: PluginMemory = {
  states: {},
  bytes: 0,
  hash: '',
  recent: [],
  called: '',
  calledBefore: '',
};

/** The memory after a patch, or why the patch has no effect. */
export function judgePatch(
  before: PluginMemory | undefined,
  patch: StatePatch,
): { readonly memory: PluginMemory } | { readonly refused: PatchRefusal } {
  const memory = before ?? NOTHING;
  const { version } = patch;
  const known = stateIn(memory.states, patch);
  const isOther = known !== undefined && version !== known.version;
  if (isOther && (version < known.version || !replacesAll(patch)))
    return refusal('version', `the state has version ${known.version}, the patch ${version}`);
  const patched = withPatch(memory.states, patch);
  if ('problem' in patched) return refusal('does_not_fit', patched.problem);
  const { states } = patched;
  const bytes = bytesAfter(memory, patch, states);
  if (bytes > MAX_PLUGIN_STATES_BYTES)
    return refusal(
      'too_large',
      `the states of all plugins would have ${bytes} bytes, more than ${MAX_PLUGIN_STATES_BYTES}`,
    );
  const recent = [...memory.recent, { before: memory.hash, patch }];
  return {
    memory: {
      ...memory,
      ...{ states, bytes, recent: withinBytes(recent) },
      hash: statesHash(memory.hash, patch),
    },
  };
}

function refusal(code: PatchRefusal['code'], message: string): { readonly refused: PatchRefusal } {
  return { refused: { code, message: message.slice(0, 500) } };
}

function replacesAll({ changes: [first] }: StatePatch): boolean {
  return first?.op === 'set' && first.path === '';
}

/** An upper bound, as long as it is within the limit: measuring a large state with each small change would be slow. */
function bytesAfter(before: PluginMemory, patch: StatePatch, after: PluginStates): number {
  const atMost = before.bytes + utf8Bytes(JSON.stringify(patch));
  return atMost <= MAX_PLUGIN_STATES_BYTES ? atMost : utf8Bytes(JSON.stringify(after));
}

function withinBytes(recent: PluginMemory['recent']): PluginMemory['recent'] {
  let bytes = 0;
  let from = recent.length;
  while (from > 0) {
    bytes += utf8Bytes(JSON.stringify(recent[from - 1]?.patch));
    if (bytes > MAX_RECENT_PATCH_BYTES) break;
    from -= 1;
  }
  return from === 0 ? recent : recent.slice(from);
}

/** Ids come from outside, so names such as `constructor` must not be found. */
function stateIn(states: PluginStates, { plugin }: StatePatch): PluginState | undefined {
  return Object.hasOwn(states, plugin) ? states[plugin] : undefined;
}

function withPatch(
  states: PluginStates,
  patch: StatePatch,
): { readonly states: PluginStates } | { readonly problem: string } {
  const { plugin, version, changes } = patch;
  const changed = withChanges(stateIn(states, patch)?.value, changes);
  if ('problem' in changed) return changed;
  return { states: { ...states, [plugin]: { version, value: changed.value } } };
}

/** The states after patches that have taken effect; undefined where one of them does not fit. */
export function statesAfter(
  before: PluginStates,
  patches: readonly StatePatch[],
): PluginStates | undefined {
  let states = before;
  for (const patch of patches) {
    const patched = withPatch(states, patch);
    if ('problem' in patched) return undefined;
    ({ states } = patched);
  }
  return states;
}

/**
 * Events of patches, each judged by the state that those before it leave. A refused one is recorded without its changes,
 * which have no effect and any size.
 */
export function patchEvents(
  before: PluginMemory | undefined,
  patches: readonly (StatePatch & PatchSource)[],
): readonly StatePatchEvent[] {
  let memory = before;
  return patches.map((patch) => {
    const judged = judgePatch(memory, patch);
    if ('refused' in judged)
      return { type: 'state_patch', ...patch, changes: [], refused: judged.refused };
    memory = judged.memory;
    return { type: 'state_patch', ...patch };
  });
}

/** Keeps what the next workers may lack when a model call has been recorded. */
export function atModelCall(memory: PluginMemory | undefined): Partial<ConversationState> {
  if (memory === undefined) return {};
  const { called, hash, recent } = memory;
  const from = recent.findIndex(({ before }) => before === called);
  return {
    plugins: {
      ...memory,
      recent: called === hash ? [] : recent.slice(Math.max(from, 0)),
      called: hash,
      calledBefore: called,
    },
  };
}

/** The answer to a worker that lacks the states. */
export function statesNow({
  plugins,
  lastSeq,
}: Pick<ConversationState, 'plugins' | 'lastSeq'>): StatesNow {
  const { hash, states } = plugins ?? NOTHING;
  return { hash, states, seq: lastSeq };
}

/** The part for a worker that may know the states as of an earlier model call. Absent before the first patch. */
export function statesRef(
  { plugins }: Pick<ConversationState, 'plugins'>,
  since: 'called' | 'calledBefore',
): { readonly states?: StatesRef } {
  if (plugins === undefined) return {};
  const { hash, recent } = plugins;
  const from = recent.findIndex(({ before }) => before === plugins[since]);
  const sent = from < 0 ? (plugins[since] === hash ? [] : recent) : recent.slice(from);
  return {
    states: { hash, base: sent[0]?.before ?? hash, recent: sent.map(({ patch }) => patch) },
  };
}
