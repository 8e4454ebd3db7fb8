/** The view of a space: plain values that never change; a changed part is a new value. */
import type {
  Member,
  Metadata,
  Space,
  SpaceAccess,
  SpaceMessage,
  StreamedArguments,
} from '../../protocol/spaces/spaces.js';
import type { Connection } from '../net/following.js';
import type { Problem } from '../net/problem.js';

/** A text of this page that the space does not show yet. */
export interface OutgoingText {
  readonly requestId: string;
  readonly text: string;
  readonly replyTo?: string;
  readonly state: 'sending' | 'failed';
  /** Present when it failed: send it again under its `requestId`, or `discard` it. */
  readonly problem?: Problem;
}

/** A visible call that a model is writing. No call need follow: nothing may depend on it. */
export interface WrittenCall extends Omit<StreamedArguments, 'attempt' | 'offset'> {
  /** The JSON text of its arguments, as far as it is written. */
  readonly text: string;
}

export interface SpaceView {
  readonly spaceId: string;
  /** `refused` with `unknown_space`: the space is gone, or the caller is no member any more. */
  readonly connection: Connection;
  /** Absent until the space was read. */
  readonly space?: Omit<Space, 'lastPosition' | 'lastChange' | 'readPosition' | 'unread'>;
  readonly members: readonly Member[];
  /** Texts and calls in the order of positions, each in its newest state. */
  readonly messages: readonly SpaceMessage[];
  readonly outgoing: readonly OutgoingText[];
  /** Visible calls that models are writing, oldest first, each until `messages` has it or no more text comes. */
  readonly writing: readonly WrittenCall[];
  /** Messages that the caller has not read, here or elsewhere; absent until it is known, and for no member. */
  readonly unread?: number;
  /** Whether there are older messages, which `loadOlder` reads. */
  readonly hasOlder: boolean;
}

export interface SpacesPage {
  readonly spaces: readonly Space[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

export interface NewSpace {
  readonly name: string;
  /** @defaultValue invited */
  readonly access?: SpaceAccess;
  readonly metadata?: Metadata;
  /** Names the space: repeats with the same id create one. @defaultValue a new one */
  readonly requestId?: string;
}

/** A member as it is added. */
export type NamedMember =
  | { readonly kind: 'person'; readonly id: string; readonly name?: string }
  | {
      readonly kind: 'agent';
      readonly conversationId: string;
      readonly agent: string;
      readonly name?: string;
    };
