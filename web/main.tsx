/** The entry of the page. */
import { createRoot } from 'react-dom/client';
import { App } from './app.js';

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
