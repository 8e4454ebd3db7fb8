/**
 * Public entry point `colloquy/browser/studio`: for pages that look into conversations. Lists, whole logs with the state
 * at any of their places, model calls, forks. Every name here is public: it changes by the rules of the changelog only.
 */
export type { AgentSettings } from '../../protocol/conversation/agents.js';
export type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
export type { Message } from '../../protocol/conversation/messages.js';
export type { StatusFilter } from '../../protocol/conversation/statuses.js';
export type { Usage } from '../../protocol/conversation/turns.js';
export type {
  ModelCallRead,
  RequestChanges,
  ShownRequest,
} from '../../protocol/model/model-calls.js';
export type {
  ListedWhatIf,
  WhatIfCancelled,
  WhatIfPage,
  WhatIfReport,
  WhatIfSide,
  WhatIfStep,
} from '../../protocol/workflow/what-if.js';
export {
  BrowserConversations,
  type ConversationsChoice,
  conversationsOf,
} from './conversations.js';
export { BrowserLog, type LogView, logOf } from './log.js';
export { Replay } from './replay.js';
export {
  cancelWhatIf,
  deleteConversation,
  forkOf,
  modelCallOf,
  runOf,
  testOf,
  whatIfOf,
  whatIfReportOf,
  whatIfsOf,
} from './requests.js';
export type {
  ConversationsView,
  ForkedConversation,
  LogPlace,
  ShownRun,
  WhatIfRequest,
} from './types.js';
