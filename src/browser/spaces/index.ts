/**
 * Public entry point `colloquy/browser/spaces`: a page's part of spaces, where people and agents write to each other. Every
 * name here is public: it changes by the rules of the changelog only.
 */
export type {
  Member,
  MemberRef,
  ReadMark,
  Space,
  SpaceMessage,
  SpaceMessageStatus,
} from '../../protocol/spaces/spaces.js';
export type { SpaceEvent, ToolEvent } from '../../protocol/spaces/tool-events.js';
export {
  type RenderedCall,
  type RendererRegistry,
  type ToolRenderer,
  type ToolRenderers,
  toolRenderers,
} from './renderers.js';
export { type BrowserSpace, spaceOf } from './space.js';
export { type BrowserSpaces, spacesOf } from './spaces.js';
export type {
  NamedMember,
  NewSpace,
  OutgoingText,
  SpacesPage,
  SpaceView,
  WrittenCall,
} from './types.js';
