/** Properties of the acts on a conversation. */
import type { BrowserConversation } from 'colloquy/browser';
import type { Session } from '../../session/session.js';
import type { UsedLog } from '../hooks/use-log.js';
import type { LoggedTurn } from '../model/cursor.js';

export interface ActsProps {
  readonly session: Session;
  readonly id: string;
  readonly log: UsedLog;
  readonly turns: readonly LoggedTurn[];
}

/** Properties of acts that are sent through the client's conversation. */
export interface SentProps extends ActsProps {
  readonly conversation: BrowserConversation;
}
