/** The examples of all operations. */
import { CALL_EXAMPLES } from './calls.js';
import { CONVERSATION_EXAMPLES } from './conversations.js';
import { SERVICE_EXAMPLES } from './service.js';
import type { Examples } from './story.js';

export const EXAMPLES: Examples = {
  ...CONVERSATION_EXAMPLES,
  ...CALL_EXAMPLES,
  ...SERVICE_EXAMPLES,
};
