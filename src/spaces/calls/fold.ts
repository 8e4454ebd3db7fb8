/**
 * The messages of visible calls as they follow from the log of a conversation. Pure. Calls that a worker runs are shown
 * by the worker while they run; their waits, and the ends that no worker sees, come from here, as do all other calls.
 */
import { withChanges } from '../../core/plugins/changes.js';
import { type Executor, isRunByWorker } from '../../protocol/calls/executors.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { ToolResult, ToolResultEnvelope } from '../../protocol/calls/results.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { Metadata, SpaceMessageStatus } from '../../protocol/spaces/spaces.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { endOf, PLUGIN_ID, shownMetadata, showRequestId } from '../plugin/shown.js';

/** One state of the message of a call. */
export interface ShowCall {
  readonly spaceId: string;
  /** Name of the agent that made the call. */
  readonly agent: string;
  readonly requestId: string;
  readonly status: SpaceMessageStatus;
  readonly metadata: Metadata;
}

/** Whether a call of an agent is shown. */
export type IsVisible = (agent: string, call: PlannedCall) => boolean;

interface OpenCall extends Pick<ShowCall, 'spaceId' | 'agent' | 'requestId'> {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: Json;
  readonly executor: Executor;
}

export class CallsFold {
  /** Seq of the last event that was taken. */
  seq = 0;
  readonly #isVisible: IsVisible;
  readonly #calls = new Map<string, OpenCall>();
  #agent = '';
  #state: Json | undefined;

  constructor(isVisible: IsVisible) {
    this.#isVisible = isVisible;
  }

  /** Events in the order of the log; those that were taken before change nothing. */
  take(event: CanonicalEvent): ShowCall | undefined {
    if (event.seq <= this.seq) return undefined;
    this.seq = event.seq;
    switch (event.type) {
      case 'conversation_started':
      case 'agent_changed':
        this.#agent = event.agent;
        return undefined;
      case 'state_patch': {
        if (event.plugin !== PLUGIN_ID || event.refused !== undefined) return undefined;
        const changed = withChanges(this.#state, event.changes);
        if ('value' in changed) this.#state = changed.value;
        return undefined;
      }
      case 'tool_call':
      case 'call_planned':
        return this.#planned(event.call, event);
      case 'suspension': {
        const { toolCallId, ask, kind } = event.suspension;
        // The worker whose code asks shows that itself.
        return ask === undefined
          ? this.#moved(toolCallId, 'requires_action', { waitsFor: kind })
          : undefined;
      }
      case 'resolution':
        return event.resolution.type === 'approve' && event.late === undefined
          ? this.#moved(event.toolCallId, 'running')
          : undefined;
      case 'input_edited': {
        const call = this.#calls.get(event.toolCallId);
        if (call !== undefined) this.#calls.set(event.toolCallId, { ...call, input: event.input });
        return undefined;
      }
      case 'tool_result':
        return this.#ended(event.toolCallId, event.result);
      case 'inbox_event':
        return this.#ended(event.toolCallId, event.result);
      default:
        return undefined;
    }
  }

  /** A call that is an error from the start, as one outside of a space, is not shown. */
  #planned(
    planned: PlannedCall,
    at: { readonly turnId: string; readonly step: number },
  ): ShowCall | undefined {
    const { toolCallId, name, input = null, executor, error, unplanned } = planned;
    const active = isRecord(this.#state) ? this.#state['active'] : undefined;
    const spaceId = isRecord(active) ? active['spaceId'] : undefined;
    if (error !== undefined || unplanned !== undefined || typeof spaceId !== 'string')
      return undefined;
    if (!this.#isVisible(this.#agent, planned)) return undefined;
    const call: OpenCall = {
      ...{ spaceId, agent: this.#agent, toolName: name, toolCallId, executor, input },
      requestId: showRequestId({ ...at, toolCallId }),
    };
    this.#calls.set(toolCallId, call);
    return this.#moved(toolCallId, 'running');
  }

  /** A worker that runs a call says so itself, earlier and in the order of its other calls. */
  #moved(
    toolCallId: string,
    status: 'running' | 'requires_action',
    more: Metadata = {},
  ): ShowCall | undefined {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || (status === 'running' && isRunByWorker(call.executor)))
      return undefined;
    return shown(call, status, more);
  }

  #ended(toolCallId: string | undefined, result: ToolResult | undefined): ShowCall | undefined {
    const call = this.#calls.get(toolCallId ?? '');
    // The result of a call that is detached is to come.
    if (call === undefined || result === undefined || result.status === 'detached')
      return undefined;
    this.#calls.delete(call.toolCallId);
    const { status, metadata } = endOf(envelopeOf(result));
    return shown(call, status, metadata);
  }
}

/** The default of a wait that has ended is an error where it says so, as that of a document of Hsafa does. */
function envelopeOf({ status, envelope }: ToolResult): ToolResultEnvelope {
  const given = status === 'expired' && envelope.ok ? envelope.result : undefined;
  const message = isRecord(given) ? given['error'] : undefined;
  return typeof message === 'string'
    ? { ok: false, error: { code: 'expired', message } }
    : envelope;
}

function shown(call: OpenCall, status: SpaceMessageStatus, more: Metadata): ShowCall {
  const { spaceId, agent, requestId } = call;
  return { spaceId, agent, requestId, status, metadata: { ...shownMetadata(call), ...more } };
}
