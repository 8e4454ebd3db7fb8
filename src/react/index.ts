/**
 * Entry point `colloquy/react`: the client of `colloquy/browser` as hooks of React 18 and 19. Every name here is public:
 * it changes by the rules of the changelog only.
 */
export {
  type UsedConversation,
  type UsedWorklist,
  useConversation,
  usePending,
  useWorklist,
} from './hooks.js';
