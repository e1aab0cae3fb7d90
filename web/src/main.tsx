import { render } from 'preact';
import { App } from './app.js';

const page = document.getElementById('page') as HTMLElement;
// Until here, the document says that the page hasn't loaded.
page.replaceChildren();
render(<App />, page);
