/**
 * Entry point `colloquy/react`: the client of `colloquy/browser` as hooks and parts of React 18 and 19. Every name here
 * is public: it changes by the rules of the changelog only.
 */

// Hooks.

export { useClientTools } from './client-tools.js';
export {
  type UsedConversation,
  type UsedWorklist,
  useConversation,
  usePending,
  useWorklist,
} from './hooks.js';
export { useInputSchema } from './input-schema.js';
export { useNestedPending } from './nested-pending.js';

// Hooks and parts with the types of an agent.

export {
  type AgentHooks,
  type ClientToolsOf,
  createHooks,
  type PromptOf,
  type Shown,
  type ToolName,
  type TypedAgent,
  type TypedPending,
} from './typed.js';

// Parts: native elements with names for screen readers, class names, and no styles.

export { type AnswerProps, type UsedAnswer, useAnswer } from './parts/answer.js';
export { Approval, type ApprovalProps } from './parts/approval.js';
export { EditForm, type EditFormProps } from './parts/edit-form.js';
export { type FieldProps, FormField } from './parts/field.js';
export { Form, type FormProps } from './parts/form.js';
export { Question, type QuestionProps } from './parts/question.js';
export type { Rendered } from './parts/rendered.js';
export { Values, type ValuesProps } from './parts/values.js';

// Words.

export { type Change, changesOf } from './words/edit.js';
export { agoWords, durationWords } from './words/times.js';
export { overSentence, problemSentence, type Sentence, verdictSentence } from './words/verdicts.js';
export type { OwnWords, PartWords } from './words/words.js';
