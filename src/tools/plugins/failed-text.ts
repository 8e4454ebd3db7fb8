/** The error of a function of a plugin that failed. */

/** Functions of plugins with the consequence of their failure. `prepare` also runs to make the tool of a call again. */
const CONSEQUENCES = {
  setup: 'so the worker does not start',
  ready: 'so the worker does not start',
  prepare: 'so the turn fails after the last attempt of its model call',
  'prepare for a call': 'so the call does not run in this attempt',
  'servers.has': 'so the call does not run in this attempt',
  dispose: 'and the worker ends all the same',
  'calls.refuse': 'so the call does not run',
  'calls.begins': 'so the call does not run in this attempt',
  'calls.ends': 'and the result of the call stays',
} as const;

type PluginHook = keyof typeof CONSEQUENCES;

/** The consequence stands before the problem, which may be long and is cut at its end. */
export function pluginFailedText(id: string, hook: PluginHook, problem: string): string {
  return `Plugin "${id}" failed in ${hook}, ${CONSEQUENCES[hook]}: ${problem}`;
}
