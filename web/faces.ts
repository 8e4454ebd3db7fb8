/** The code of each face, which is loaded when its address is opened. */
import type { ComponentType } from 'react';
import type { FaceProps } from './shared/face.js';
import type { PlaceName } from './shared/places.js';

export const FACES: Readonly<Record<PlaceName, () => Promise<ComponentType<FaceProps>>>> = {
  conversations: async () => (await import('./studio/studio.js')).Studio,
  inbox: async () => (await import('./inbox/inbox.js')).Inbox,
  chat: async () => (await import('./chat/chat.js')).Chat,
  operations: async () => (await import('./operations/operations.js')).Operations,
};
