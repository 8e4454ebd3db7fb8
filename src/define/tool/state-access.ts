/** How the code of tools and plugins reads and changes the states of plugins. Types only. */
import type { StateChange } from '../../protocol/calls/plugin-state.js';

/** A plugin, as the name of its state. */
export interface PluginRef<State = unknown> {
  readonly id: string;
  /** For inference; no value has it. */
  readonly '~state'?: State;
}

/**
 * Reads and changes states of plugins. A plugin is named by itself or by its id. Changes are visible to the same code at
 * once, to all other code when they take effect: those of `prepare` with its model call, those of a tool after the step,
 * in the order of the step's calls (after the call itself where calls run one after the other, and for a detached or
 * late call with its result). When two calls of a step set the same value, the later one in that order wins; `increment`
 * and `append` of both count. Changes of a run that ends without a result (a question, a lost worker) are dropped.
 */
export interface StateAccess {
  /**
   * The state with the defaults of its schema, migrated to the present version.
   * @throws {TypeError} when the agent has no such plugin, or the state does not match its schema
   */
  getState<State>(plugin: PluginRef<State>): State;
  getState(plugin: string): unknown;
  /** Replaces the whole state. @throws {TypeError} when the value does not match the schema, or is no JSON */
  setState<State>(plugin: PluginRef<State>, value: NoInfer<State>): void;
  setState(plugin: string, value: unknown): void;
  /**
   * Changes parts of the state, one after the other.
   * @throws {TypeError} when a change does not fit, or the changed state does not match the schema; then nothing is
   * changed
   */
  patchState(plugin: PluginRef | string, ...changes: readonly StateChange[]): void;
}
