/**
 * States of questions that are too large for an event. The state of an MCP server must not be shortened, so it is
 * stored beside the log, and the event has its id. Runs in the worker.
 */
import type { CallContext } from '../../define/tool/context.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import type { LargeResults } from './large-results.js';

const MARK = '$colloquy.stored';

/** The reference that replaces the state; undefined when it cannot be stored now. Never throws. */
export async function keptState(
  text: string,
  large: LargeResults | undefined,
): Promise<Json | undefined> {
  const blob = await large?.keep(text, 'application/json');
  return blob === undefined ? undefined : { [MARK]: blob.id };
}

/**
 * The context with the state itself in place of a reference.
 * @throws when the store cannot be reached now
 */
export async function withWholeState<Ctx extends Pick<CallContext, 'state' | 'storedResults'>>(
  ctx: Ctx,
): Promise<Ctx> {
  const { state, storedResults } = ctx;
  const id = isRecord(state) ? state[MARK] : undefined;
  if (typeof id !== 'string') return ctx;
  const stored = await storedResults.read(id);
  // The tool itself handles a lost state.
  if (stored === undefined) return { ...ctx, state: null };
  return { ...ctx, state: JSON.parse(Buffer.from(stored.content).toString()) as Json };
}
