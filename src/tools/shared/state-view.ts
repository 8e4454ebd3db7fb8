/**
 * The states of an agent's plugins as one run of its code sees them: as of the run's begin, with the run's own changes.
 * Runs in the worker, and in tests of users.
 */
import { withChanges } from '../../core/plugins/changes.js';
import { isStateChange } from '../../core/plugins/form.js';
import type { AnyPlugin } from '../../define/plugin/types.js';
import { problemText, validateNow } from '../../define/schemas/validate.js';
import type { PluginRef, StateAccess } from '../../define/tool/state-access.js';
import type { PluginStates, StateChange, StatePatch } from '../../protocol/calls/plugin-state.js';
import {
  MAX_PATCHES,
  MAX_PLUGIN_STATE_DEPTH,
  MAX_PLUGIN_STATES_BYTES,
  MAX_STATE_CHANGES,
} from '../../protocol/limits/limits.js';
import { isBoundedJson, type Json, utf8Bytes } from '../../protocol/values/json.js';
import { toJson } from './normalise.js';

interface Own {
  /** The state as JSON; undefined before the first change. */
  readonly value: Json | undefined;
  readonly changes: readonly StateChange[];
  /** Size of the changes as JSON. */
  readonly bytes: number;
}

export class StateView implements StateAccess {
  readonly #plugins: ReadonlyMap<string, AnyPlugin>;
  readonly #states: PluginStates;
  readonly #own = new Map<string, Own>();
  #isOver = false;

  constructor(plugins: readonly AnyPlugin[], states: PluginStates) {
    this.#plugins = new Map(plugins.map((plugin) => [plugin.id, plugin]));
    this.#states = states;
  }

  getState(plugin: PluginRef | string): never {
    const known = this.#pluginOf(plugin);
    return parsed(known, this.#ownOf(known).value) as never;
  }

  setState(plugin: PluginRef | string, value: unknown): void {
    const known = this.#pluginOf(plugin);
    const json = jsonOf(known, value);
    parsed(known, json);
    // All changes before are replaced.
    this.#take(known, replaced(json));
  }

  patchState(plugin: PluginRef | string, ...changes: readonly StateChange[]): void {
    const known = this.#pluginOf(plugin);
    const given = changes.map((change) => jsonOf(known, change));
    for (const [index, change] of given.entries())
      if (!isStateChange(change))
        throw new TypeError(
          `plugin "${known.id}": change ${index + 1} must be {op: 'set', path, value}, {op: 'increment', path, by}, {op: 'append', path, values} or {op: 'remove', path}`,
        );
    const own = this.#ownOf(known);
    const next = given as unknown as readonly StateChange[];
    const changed = withChanges(own.value, next);
    if ('problem' in changed) throw new TypeError(`plugin "${known.id}": ${changed.problem}`);
    parsed(known, changed.value);
    this.#take(known, {
      value: changed.value,
      changes: [...own.changes, ...next],
      bytes: own.bytes + bytesOf(next),
    });
  }

  /** The changes of this run; further ones are refused. */
  patches(): readonly StatePatch[] {
    this.#isOver = true;
    return [...this.#own].flatMap(([plugin, { changes }]) =>
      changes.length === 0
        ? []
        : [{ plugin, version: this.#plugins.get(plugin)?.version ?? 1, changes }],
    );
  }

  #take(plugin: AnyPlugin, own: Own): void {
    if (this.#isOver)
      throw new TypeError(`plugin "${plugin.id}": the run has ended, its state cannot be changed`);
    if (own.changes.length > MAX_STATE_CHANGES)
      throw new TypeError(
        `plugin "${plugin.id}": more than ${MAX_STATE_CHANGES} changes in one run`,
      );
    const others = [...this.#own].filter(([id]) => id !== plugin.id);
    const bytes = others.reduce((sum, [, other]) => sum + other.bytes, own.bytes);
    if (bytes > MAX_PLUGIN_STATES_BYTES)
      throw new TypeError(
        `plugin "${plugin.id}": changes of ${bytes} bytes in one run, more than ${MAX_PLUGIN_STATES_BYTES}`,
      );
    if (others.length === MAX_PATCHES)
      throw new TypeError(`more than ${MAX_PATCHES} plugins changed in one run`);
    this.#own.set(plugin.id, own);
  }

  #pluginOf(plugin: PluginRef | string): AnyPlugin {
    const id = typeof plugin === 'string' ? plugin : plugin.id;
    const known = this.#plugins.get(id);
    if (known !== undefined) return known;
    const ids = [...this.#plugins.keys()].join(', ');
    throw new TypeError(`the agent has no plugin "${id}"; it has ${ids === '' ? 'none' : ids}`);
  }

  /** The state of the plugin's version. One that had to be migrated is replaced as a whole by the first change. */
  #ownOf(plugin: AnyPlugin): Own {
    const own = this.#own.get(plugin.id);
    if (own !== undefined) return own;
    const known = Object.hasOwn(this.#states, plugin.id) ? this.#states[plugin.id] : undefined;
    if (known === undefined || known.version === plugin.version)
      return { value: known?.value, changes: [], bytes: 0 };
    if (known.version > plugin.version)
      throw new TypeError(
        `plugin "${plugin.id}": its state has version ${known.version}, this worker's definition ${plugin.version}`,
      );
    const migrated = plugin.migrate?.(structuredClone(known.value), known.version) ?? known.value;
    return replaced(jsonOf(plugin, migrated));
  }
}

/** The functions of a context, to be used without their object. `only`: the function whose code may read alone. */
export function accessTo(view: StateView, only?: 'preflight' | 'reconcile'): StateAccess {
  const refuse = (): never => {
    throw new TypeError(`${String(only)} cannot change states of plugins; run can`);
  };
  return {
    getState: (plugin: PluginRef | string) => view.getState(plugin),
    setState:
      only === undefined
        ? (plugin: PluginRef | string, value: unknown) => {
            view.setState(plugin, value);
          }
        : refuse,
    patchState:
      only === undefined
        ? (plugin, ...changes) => {
            view.patchState(plugin, ...changes);
          }
        : refuse,
  };
}

function replaced(value: Json): Own {
  const changes: readonly StateChange[] = [{ op: 'set', path: '', value }];
  return { value, changes, bytes: bytesOf(changes) };
}

function bytesOf(changes: readonly StateChange[]): number {
  return utf8Bytes(JSON.stringify(changes));
}

/** A copy of its own, with defaults. @throws {TypeError} when it does not match the schema */
function parsed({ id, state }: AnyPlugin, value: Json | undefined): unknown {
  if (state === undefined) return structuredClone(value);
  // A new conversation has the defaults of the fields, or of the schema as a whole.
  const attempts = value === undefined ? [undefined, {}] : [structuredClone(value)];
  let problem = '';
  for (const attempt of attempts) {
    const validated = validateNow(state, attempt);
    if (validated.ok) return validated.value;
    problem = problemText(validated.problems);
  }
  throw new TypeError(`plugin "${id}": its state does not match its schema: ${problem}`);
}

function jsonOf({ id }: AnyPlugin, value: unknown): Json {
  const json = toJson(value);
  if (isBoundedJson(json, MAX_PLUGIN_STATE_DEPTH)) return json;
  throw new TypeError(`plugin "${id}": its state is deeper than ${MAX_PLUGIN_STATE_DEPTH} levels`);
}
