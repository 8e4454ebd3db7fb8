/** Entry point `colloquy/engine`: everything of one application behind one call. */

export { openColloquy } from './open-colloquy.js';
export type {
  AppOptions,
  MakeRoutes,
  OpenedColloquy,
  OpenOptions,
  ServedAgents,
} from './options.js';
