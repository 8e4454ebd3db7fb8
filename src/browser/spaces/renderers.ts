/**
 * Renderers of the calls that a space shows, by the names of their tools. Of no framework: a renderer returns an element,
 * a component's output, or whatever else a page shows.
 */
import type { Executor } from '../../protocol/calls/executors.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { SpaceMessage, SpaceMessageStatus } from '../../protocol/spaces/spaces.js';
import { isRecord, type Json } from '../../protocol/values/json.js';

/** A call as its message shows it. All texts of it are text: no part is markup, and none may be set as markup. */
export interface RenderedCall {
  readonly messageId: string;
  readonly toolName: string;
  /** Absent for a message of the engine, such as that of loop protection. */
  readonly toolCallId?: string;
  readonly status: SpaceMessageStatus;
  /** Where the result comes from. */
  readonly executor?: Executor;
  /** The kind of its wait while the status is `requires_action`: decides which resolutions answer it. */
  readonly waitsFor?: SuspensionKind;
  /** As the model wrote it, or `{cut, bytes, beginning}` where it is too large to be shown. */
  readonly input: Json;
  /** The result of a call that is `complete`. */
  readonly output?: Json;
  /** The error of a call whose status is `error`, with its `message`. */
  readonly error?: Json;
  /** The whole message, with its author and times. */
  readonly message: SpaceMessage;
}

export type ToolRenderer<Rendered> = (call: RenderedCall) => Rendered;

export interface ToolRenderers<Rendered> {
  /** Renderers by the exact name of the tool. */
  readonly byName?: Readonly<Record<string, ToolRenderer<Rendered>>>;
  /** For the calls of all other tools. */
  readonly fallback: ToolRenderer<Rendered>;
}

export interface RendererRegistry<Rendered> {
  /**
   * What the renderer of the tool returns for a message; undefined for a message that shows no call. The name of the
   * tool alone chooses the renderer. @throws what the renderer throws
   */
  render(message: SpaceMessage): Rendered | undefined;
  /** Adds a renderer. Returns how to take it away again. @throws {TypeError} for a name that is taken */
  register(toolName: string, renderer: ToolRenderer<Rendered>): () => void;
}

/**
 * Maps tool names to renderers.
 * @example
 * const renderers = toolRenderers<HTMLElement>({
 *   byName: { confirmAction: (call) => confirmation(call), displayChart: (call) => chart(call.input) },
 *   fallback: ({ toolName, status }) => textElement(`${toolName}: ${status}`),
 * });
 * const shown = space.getSnapshot().messages.map((message) => renderers.render(message) ?? textElement(message.text));
 */
export function toolRenderers<Rendered>({
  byName = {},
  fallback,
}: ToolRenderers<Rendered>): RendererRegistry<Rendered> {
  // A map has no inherited names: models choose the names of their calls.
  const renderers = new Map(Object.entries(byName));
  return {
    render: (message) => {
      const call = callOf(message);
      return call === undefined ? undefined : (renderers.get(call.toolName) ?? fallback)(call);
    },
    register: (toolName, renderer) => {
      if (renderers.has(toolName))
        throw new TypeError(`the tool "${toolName}" has a renderer already`);
      renderers.set(toolName, renderer);
      return () => {
        if (renderers.get(toolName) === renderer) renderers.delete(toolName);
      };
    },
  };
}

/** Undefined for a text, and for a message that names no tool. */
export function callOf(message: SpaceMessage): RenderedCall | undefined {
  const { kind, id, status, metadata } = message;
  if (kind !== 'tool' || !isRecord(metadata)) return undefined;
  const { toolName, toolCallId, executor, waitsFor, input = null, output, error } = metadata;
  if (typeof toolName !== 'string') return undefined;
  return {
    ...{ messageId: id, toolName, status, input, message },
    ...(typeof toolCallId === 'string' ? { toolCallId } : {}),
    ...(typeof executor === 'string' ? { executor: executor as Executor } : {}),
    ...(typeof waitsFor === 'string' ? { waitsFor: waitsFor as SuspensionKind } : {}),
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
  };
}
