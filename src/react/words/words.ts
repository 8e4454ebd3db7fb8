/** The texts of the parts, in English. Each part takes others by its `words`. */
import type { Problem, Resolution, Verdict } from '../../browser/index.js';
import { problemSentence, type Sentence, verdictSentence } from './verdicts.js';

export interface PartWords {
  readonly approval: string;
  readonly approve: string;
  readonly edit: string;
  readonly deny: string;
  /** Opens the field of the reason. */
  readonly denyWithReason: string;
  readonly reason: string;
  readonly back: string;
  readonly question: string;
  readonly answer: string;
  readonly decline: string;
  readonly answerAsJson: string;
  readonly schema: string;
  readonly optional: string;
  readonly changeArguments: string;
  readonly arguments: string;
  readonly approveEdited: string;
  readonly undoEdits: string;
  readonly noChange: string;
  readonly changes: string;
  readonly before: string;
  readonly after: string;
  readonly absent: string;
  readonly noArguments: string;
  /** The key that sends a form or a reason. */
  readonly sendKey: string;
  readonly sending: string;
  /** Before the reasons why a worker's check took the answer back. */
  readonly reverted: string;
  /** After the words on an answer that is queued behind another one of the same call. */
  readonly behind: string;
  /** On an answer of this type; `now` in milliseconds since 1970. */
  readonly verdict: (verdict: Verdict, type: Resolution['type'], now: number) => Sentence;
  /** On an answer that got no verdict. */
  readonly problem: (problem: Problem) => Sentence;
}

/** Texts in place of those in English. */
export type OwnWords = Partial<PartWords>;

const WORDS: PartWords = {
  approval: 'Approval',
  approve: 'Approve',
  edit: 'Edit …',
  deny: 'Deny',
  denyWithReason: 'Deny …',
  reason: 'Reason (the model reads it)',
  back: 'Back',
  question: 'Question',
  answer: 'Answer',
  decline: 'Decline',
  answerAsJson: 'Answer as JSON',
  schema: 'Schema',
  optional: '(optional)',
  changeArguments: 'Change the arguments',
  arguments: 'Arguments',
  approveEdited: 'Approve with these changes',
  undoEdits: 'Undo all changes',
  noChange: 'No change yet',
  changes: 'Changes',
  before: 'before:',
  after: 'after:',
  absent: 'absent',
  noArguments: 'No arguments.',
  sendKey: 'Ctrl+Enter sends it',
  sending: 'Sent; no answer yet.',
  reverted: 'The answer was taken back:',
  behind: 'The one before it is judged first.',
  verdict: verdictSentence,
  problem: problemSentence,
};

export function wordsOf(own: OwnWords | undefined): PartWords {
  return own === undefined ? WORDS : { ...WORDS, ...own };
}
