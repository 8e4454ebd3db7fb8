/** Entry `colloquy/testing`: test agents with no Temporal and no key. */
export {
  calls,
  callsAll,
  fails,
  hangs,
  responds,
  ScriptedModel,
  says,
  saysAfter,
  script,
  scriptedBy,
} from '../model/scripted/scripted.js';
export type { MadeModel, ModelPlan, PlannedAnswer } from './describe-model.js';
export { describeModel } from './describe-model.js';
export type { TestRunner, ToolCase } from './describe-tool.js';
export { describeTool } from './describe-tool.js';
export { TriggerRefused } from './local/local-triggers.js';
export type {
  RecordedResult,
  TestClaimOptions,
  TestConversationOptions,
  TestResolveOptions,
  TestSendOptions,
} from './local/test-options.js';
export { MessageRefused, ResolutionRefused } from './local/test-options.js';
export type { SeenCall } from './seen-calls.js';
export { TestConversation, testConversation } from './test-conversation.js';
