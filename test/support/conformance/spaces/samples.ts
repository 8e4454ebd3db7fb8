/** Members, spaces and messages of the contract of stores of spaces. */
import { expect } from 'vitest';
import type {
  MemberRef,
  Metadata,
  Space,
  SpaceKey,
  SpaceMessage,
  SpaceMessageStatus,
} from '../../../../src/protocol/spaces/spaces.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import type {
  NewSpace,
  PutMessage,
  SpaceStore,
} from '../../../../src/store/ports/spaces/spaces.js';

export interface SpaceStores {
  readonly log: EventLog;
  readonly spaces: SpaceStore;
}

export const KEY: SpaceKey = { tenant: 'default', spaceId: 'room' };
export const ANN: MemberRef = { kind: 'person', id: 'ann' };
export const BOB: MemberRef = { kind: 'person', id: 'bob' };
export const BOT: MemberRef = { kind: 'agent', id: 'c-1~bot' };
export const OTHER_BOT: MemberRef = { kind: 'agent', id: 'c-2~bot' };

/** A text of Ann. */
export function text(id: string): PutMessage {
  return { ...KEY, id, author: ANN, kind: 'text', status: 'complete', text: 'Hi', nowMs: 3_000 };
}

/** The fields of a call that differ from those of a text. */
export function tool(status: SpaceMessageStatus, metadata: Metadata = {}) {
  return { kind: 'tool', status, text: '', metadata: { toolName: 'refund', ...metadata } } as const;
}

export function makerOf(spaces: () => SpaceStore) {
  return {
    created: async (key: SpaceKey = KEY, fields: Partial<NewSpace> = {}): Promise<Space> => {
      const creator = { ...ANN, name: 'Ann' };
      const space = { ...key, name: 'Room', access: 'invited', creator, nowMs: 1_000 } as const;
      const result = await spaces().create({ ...space, ...fields });
      if (result.outcome !== 'created') throw new Error(`The space is ${result.outcome}`);
      return result.space;
    },
    stored: async (
      message: Partial<PutMessage> & { readonly id: string },
    ): Promise<SpaceMessage> => {
      const result = await spaces().putMessage({ ...text(message.id), ...message });
      expect(result.outcome).toBeOneOf(['stored', 'changed']);
      if (!('message' in result)) throw new Error(`The message is ${result.outcome}`);
      return result.message;
    },
  };
}
