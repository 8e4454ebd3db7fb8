/**
 * Public entry point `colloquy/browser/worklist`: the waiting calls of all conversations, for pages of people who answer
 * them. Every name here is public: it changes by the rules of the changelog only.
 */
export { matchesInput } from '../../protocol/calls/rules.js';
export type { AgentManifest, ToolManifest } from '../../protocol/conversation/agents.js';
export { MAX_RULE_MATCH_BYTES, MAX_RULE_MATCHES } from '../../protocol/limits/limits.js';
export type { WorklistCounts, WorklistFilter, WorklistItem } from '../../protocol/log/worklist.js';
export { type AnswerOfMany, agentsOf, type ResultOfMany, resolveMany } from './requests.js';
export type { WorklistView } from './types.js';
export { BrowserWorklist, type WorklistChoice, worklistOf } from './worklist.js';
