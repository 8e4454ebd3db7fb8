// The lines that keep promises and requirements; `npm run break:promises` changes them.
import { OF_INSPECTION } from './inspection.mjs';
import { OF_PAGES } from './pages.mjs';
import { OF_PROMISES } from './promises.mjs';
import { OF_REQUIREMENTS } from './requirements.mjs';
import { OF_SPACES } from './spaces.mjs';

export const BREAKS = [
  ...OF_PROMISES,
  ...OF_REQUIREMENTS,
  ...OF_SPACES,
  ...OF_INSPECTION,
  ...OF_PAGES,
];
