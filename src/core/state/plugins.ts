/** The states of plugins as part of the conversation's state. */
import type { PatchSource, PluginStates, StatePatch } from '../../protocol/calls/plugin-state.js';

export interface PluginMemory {
  readonly states: PluginStates;
  /** Bytes of the states as JSON, at most: measured only where that matters. */
  readonly bytes: number;
  /** `statesHash` over all patches. */
  readonly hash: string;
  /** The newest patches, and the hash before each: those since the model call before the last one. */
  readonly recent: readonly { readonly before: string; readonly patch: StatePatch }[];
  /** The hash at the last model call, and at the one before it. */
  readonly called: string;
  readonly calledBefore: string;
}

/** A patch that takes effect next. */
export type DuePatch = StatePatch & PatchSource;
