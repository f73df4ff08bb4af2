import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { definitionLanguage } from '../definition-language.mjs';
import { anchorOf, BASE, PAGES, preparePages, sidebar } from '../pages.mjs';

preparePages();

export default defineConfig({
  title: 'svc',
  description: 'Typed LLM functions over HTTP',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  base: BASE,
  srcDir: PAGES,
  outDir: fileURLToPath(new URL('../dist/html', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../dist/cache', import.meta.url)),
  markdown: { languages: [definitionLanguage], anchor: { slugify: anchorOf } },
  // Pages link to a server on the reader's machine.
  ignoreDeadLinks: 'localhostLinks',
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    docFooter: { prev: 'Previous', next: 'Next' },
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial' },
      { text: 'Language', link: '/docs/language' },
      { text: 'Callers', link: '/docs/callers/' },
      { text: 'All pages', link: '/docs/' },
    ],
    sidebar: sidebar(),
  },
});
