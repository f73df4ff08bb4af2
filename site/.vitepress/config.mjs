import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchorOf, BASE, PAGES, preparePages, sidebar } from '../pages.mjs';

preparePages();

/** The grammar of the editors. */
const grammar = JSON.parse(
  readFileSync(new URL('../../editors/vscode/syntaxes/svc.tmLanguage.json', import.meta.url), 'utf8'),
);
/** `wrong` and `expressions` are marks for the tests of docs/language.md. */
const languages = [
  { ...grammar, name: 'baml', aliases: ['svc', 'wrong'] },
  {
    ...grammar,
    name: 'template',
    aliases: ['expressions'],
    scopeName: 'source.svc.template',
    patterns: [{ include: '#template' }, { include: '#operands' }],
  },
];

export default defineConfig({
  title: 'svc',
  description: 'Typed LLM functions over HTTP',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  base: BASE,
  srcDir: PAGES,
  outDir: fileURLToPath(new URL('../dist/html', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../dist/cache', import.meta.url)),
  markdown: { languages, anchor: { slugify: anchorOf } },
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
      { text: 'Comparison', link: '/docs/comparison' },
      { text: 'FAQ', link: '/docs/faq' },
      { text: 'All pages', link: '/docs/' },
    ],
    sidebar: sidebar(),
  },
});
