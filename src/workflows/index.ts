/** The workflows that a worker registers. Nothing else is exported: every exported function is a workflow type. */
export { conversation } from './conversation.js';
export { trigger } from './trigger.js';
export { whatIf } from './what-if.js';
