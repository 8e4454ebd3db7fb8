/** What a worker registers. Nothing else is exported: every function here is a workflow type. */
export { conversation } from './conversation.js';
