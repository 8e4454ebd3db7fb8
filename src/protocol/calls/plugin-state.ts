/**
 * State of plugins: data that the workflow owns, and the changes by which tools and plugins write it. Runs anywhere.
 */
import type { ToolCallId, TurnId } from '../values/ids.js';
import { fingerprint, type Json } from '../values/json.js';

/** The state of one plugin. */
export interface PluginState {
  /** Version of the plugin's definition that wrote it, from 1. */
  readonly version: number;
  readonly value: Json;
}

/** States by id of plugin. A plugin that has written nothing has none; its definition has the defaults. */
export type PluginStates = Readonly<Record<string, PluginState>>;

/**
 * One change of a state. `path` is a JSON Pointer; '' is the whole state.
 *
 * | op | effect |
 * |---|---|
 * | `set` | replaces the value; missing objects on the way are made; `-`, or the length of a list, adds an item |
 * | `increment` | adds `by` to a number; a missing one counts as 0 |
 * | `append` | adds `values` to the end of a list; a missing one counts as empty |
 * | `remove` | removes the value; a missing one is no error |
 *
 * A change that does not fit, such as `increment` of a text, is refused together with its patch.
 */
export type StateChange =
  | { readonly op: 'set'; readonly path: string; readonly value: Json }
  | { readonly op: 'increment'; readonly path: string; readonly by: number }
  | { readonly op: 'append'; readonly path: string; readonly values: readonly Json[] }
  | { readonly op: 'remove'; readonly path: string };

/** Changes of one plugin's state, in order. They take effect together, or not at all. */
export interface StatePatch {
  readonly plugin: string;
  /** Version of the plugin's definition on the worker that made them. */
  readonly version: number;
  readonly changes: readonly StateChange[];
}

/** The place of a patch: the turn, and the call whose tool made it. */
export interface PatchSource {
  readonly turnId: TurnId;
  /** Absent: the plugin's `prepare` made it, before a model call. */
  readonly toolCallId?: ToolCallId;
}

/** Why a patch has no effect. */
export interface PatchRefusal {
  /**
   * `does_not_fit`: the state is not what the change needs. `too_large`: the states of all plugins together would exceed
   * their bound. `version`: a newer definition of the plugin has written the state, or the patch begins with no whole
   * state of its own version.
   */
  readonly code: 'does_not_fit' | 'too_large' | 'version';
  readonly message: string;
}

/**
 * A patch of a plugin's state, in the order in which patches take effect: those of `prepare` with their model call, those
 * of a step's calls in call order once the step has ended (in sequential steps with each result), those of detached and
 * late calls with their result.
 */
export interface StatePatchEvent extends StatePatch, PatchSource {
  readonly type: 'state_patch';
  /** Present when the patch has no effect, and `changes` is empty; absent: it has taken effect. */
  readonly refused?: PatchRefusal;
}

/**
 * How states reach a worker: by their hash, with the newest patches, so that history grows by what was changed and not
 * by what there is. A worker without the states of `base` queries the run (`pluginStates`).
 */
export interface StatesRef {
  /** `statesHash` over all patches until now. */
  readonly hash: string;
  /** The same before `recent`; '' before the first patch. */
  readonly base: string;
  readonly recent: readonly StatePatch[];
}

/** States of plugins as a client reads them. */
export interface PluginStatesRead {
  /** The states include the changes of all events up to this one; `state_patch` events behind it change them further. */
  readonly seq: number;
  readonly states: PluginStates;
}

/** Answer to the query `pluginStates`. */
export interface StatesNow extends PluginStatesRead {
  readonly hash: string;
}

/** The hash after a patch. Before the first, it is ''. */
export function statesHash(before: string, { plugin, version, changes }: StatePatch): string {
  return fingerprint(`${before} ${JSON.stringify([plugin, version, changes])}`);
}
