import { reactTests } from './all.js';

reactTests(19);
