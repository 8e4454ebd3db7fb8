/**
 * Entry point `colloquy/model`: the types of a model of your own, and the failure that it throws. `describeModel` of
 * `colloquy/testing` checks one.
 */

export type { ModelContext } from '../protocol/conversation/context.js';
export type {
  AssistantPart,
  Message,
  TextSource,
} from '../protocol/conversation/messages.js';
export type { Usage } from '../protocol/conversation/turns.js';
export type {
  FunctionTool,
  HostedTool,
  Model,
  ModelCaller,
  ModelCallOptions,
  ModelFiles,
  ModelOutput,
  ModelPrices,
  ModelReport,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
  ModelTool,
  ProviderCall,
  ProviderTool,
  RequestedCall,
} from '../protocol/model/model.js';
export type { FilePart, FileSource, ImagePart } from '../protocol/values/attachments.js';
export { ModelFailure, type ModelFailureCode } from './shared/failure.js';
export { shownResult } from './shared/results.js';
