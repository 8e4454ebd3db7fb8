/** Entry point `colloquy/engine`: everything of one application behind one call. */
export type {
  AppOptions,
  MakeRoutes,
  OpenedColloquy,
  OpenOptions,
  ServedAgents,
} from './open-colloquy.js';
export { openColloquy } from './open-colloquy.js';
