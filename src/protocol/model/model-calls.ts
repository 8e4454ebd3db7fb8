/** One model call as readers see it: the request that the model got, and how it differs from the call before. */
import type { Message } from '../conversation/messages.js';
import type { MessageId, TurnId } from '../values/ids.js';
import type { ModelDefinition } from './definitions.js';
import type { ModelRequest } from './model.js';

/** The request of a model call. A part that is absent is named in `unknown`, or the request had none. */
export type ShownRequest = Partial<ModelRequest> & Pick<ModelRequest, 'messages'>;

/** Differences between the request of a model call and the one of the call before. */
export interface RequestChanges {
  /** Seq of the `model_call` before. */
  readonly since: number;
  /** Number of messages with which both requests begin. */
  readonly same: number;
  /** Ids of messages that only this request has, and that only the one before had, in their order. */
  readonly added: readonly MessageId[];
  readonly removed: readonly MessageId[];
  /** Messages of both requests whose content differs, as the call before got them. */
  readonly changed: readonly Message[];
  /** Names of tools. Absent: the tools of one of the requests are not known. */
  readonly tools?: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
  /** Names of the other fields that differ, such as `system`. Absent: one of the requests is not known whole. */
  readonly settings?: readonly string[];
}

/**
 * | source | the request is |
 * |---|---|
 * | `audit` | as the worker sent it, from the audit of model calls |
 * | `derived` | assembled from the log, and the agent's definition of that call, by the rules of a worker; `unknown` names its other parts |
 * | `unavailable` | not known; `reason` says why |
 */
export interface ModelCallRead {
  readonly source: 'audit' | 'derived' | 'unavailable';
  /** Place of the `model_call` in the log. */
  readonly generation: number;
  readonly seq: number;
  readonly turnId: TurnId;
  readonly step: number;
  readonly attempt: number;
  readonly agent: string;
  readonly model: string;
  readonly request?: ShownRequest;
  /** Parts of the request that are not known, each as a sentence. Empty where the request is whole. */
  readonly unknown: readonly string[];
  /**
   * The agent's definition by which the call was made. Present where the request is derived, and plugins or MCP servers
   * changed parts of it for this call, which `request` does not have.
   */
  readonly definition?: ModelDefinition;
  /** A sentence. Present for `unavailable`. */
  readonly reason?: string;
  /** Absent: it is the first model call of the log, or one of the two requests is not available. */
  readonly changes?: RequestChanges;
}
