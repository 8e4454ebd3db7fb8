/** The studio: the list of conversations, or one of them, by the address of the page. */
import type { ReactNode } from 'react';
import type { FaceProps } from '../shared/face.js';
import { placeOf } from '../shared/places.js';
import { OneConversation } from './conversation.js';
import { Conversations } from './list/conversations.js';
import './studio.css';

export function Studio(props: FaceProps): ReactNode {
  const [id] = placeOf(location.pathname).parts;
  return id === undefined ? <Conversations {...props} /> : <OneConversation {...props} id={id} />;
}
