import { reactTests } from '../react/all.js';

reactTests(18);
