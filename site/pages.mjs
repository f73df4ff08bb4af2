import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository, whose Markdown files are the pages of the site. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const INDEX = 'docs/README.md';
const DECISIONS = 'docs/adr';

/** Blocks of text whose language states to the tests of a page what they contain. */
const MARKED_TEXT = /^(`{3,})(?:descriptions|options|output|prompt|reply|stream)\b.*$/gmu;

/** The path below which a server publishes the site, such as `/svc/`. */
export const BASE = process.env['SITE_BASE'] ?? '/';

/** The folder of the prepared pages, which VitePress reads. */
export const PAGES = fileURLToPath(new URL('dist/pages', import.meta.url));

/**
 * Copies every page to the folder that VitePress reads, with links that work on the site: a `README.md` becomes the index of its
 * folder, and a file that is not a page becomes a part of the site.
 */
export function preparePages() {
  rmSync(PAGES, { recursive: true, force: true });
  for (const page of pages()) write(targetOf(page), asText(withSiteLinks(page, read(page))));
  write(targetOf(DECISIONS), listOfDecisions());
}

/** The groups of the sidebar: the headings and lists of the index. */
export function sidebar() {
  const groups = [];
  for (const line of read(INDEX).split('\n')) {
    const [, heading] = /^## (.+)$/u.exec(line) ?? [];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    const [, indent, text, link] = /^( *)- \[([^\]]+)\]\(([^)]+)\)/u.exec(line) ?? [];
    if (text === undefined) continue;
    const { items } = groups.at(-1);
    const item = { text, link: `/${targetOf(posix.join('docs', link))}`.replace(/(?:index)?\.md$/u, '') };
    if (indent === '') items.push(item);
    else (items.at(-1).items ??= []).push(item);
  }
  return groups;
}

/** The anchor of a heading: the same as on GitHub, so that links work in both places. */
export function anchorOf(heading) {
  const kept = heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '');
  return kept.replaceAll(' ', '-');
}

/** The paths of all pages, relative to the repository. */
function pages() {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true }).map((name) => posix.join('docs', name));
  const others = ['README.md', 'CHANGELOG.md', 'SECURITY.md', '.github/CONTRIBUTING.md', 'bench/README.md'];
  return [...others, ...docs].filter((path) => path.endsWith('.md'));
}

/** The path of a page on the site. */
function targetOf(page) {
  if (page === DECISIONS) return `${DECISIONS}/index.md`;
  return page.replace(/README\.md$/u, 'index.md').replace('.github/CONTRIBUTING.md', 'contributing.md');
}

/** Keeps VitePress from reading braces as expressions of Vue, and from searching for languages that are only marks for tests. */
function asText(text) {
  return `:::: v-pre\n\n${text.replaceAll(MARKED_TEXT, '$1text')}\n::::\n`;
}

/** Blocks and spans of code, and links with their image mark, label and target. */
const CODE_OR_LINK = /^(`{3,}).*\n[^]*?^\1$|`[^`\n]+`|(!?)\[([^\]]*)\]\(([^)\s]+)\)/gmu;

/** The text of a page with the links of the site. */
function withSiteLinks(page, text) {
  return text.replaceAll(CODE_OR_LINK, (whole, ...groups) => {
    const [, image, label, target = ''] = groups;
    const [path, anchor] = target.split('#', 2);
    if (path === '' || /^[a-z]+:/u.test(path)) return whole;
    const address = addressOf(targetOf(page), posix.join(posix.dirname(page), path), image !== '');
    if (address === undefined) return label;
    return `${image}[${label}](${address}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

/** The address of a file for a page of the site; undefined for a folder, which the site does not have. */
function addressOf(page, file, isImage) {
  const isPage = file.endsWith('.md') || file === DECISIONS;
  if (!isPage && statSync(join(ROOT, file)).isDirectory()) return undefined;
  if (!isPage) return publish(file, isImage);
  return posix.relative(posix.dirname(page), targetOf(file));
}

/** Makes a file a part of the site: code as text, so that browsers show it. Returns its address. */
function publish(file, isImage) {
  const name = `files/${file}${isImage || file.endsWith('.json') ? '' : '.txt'}`;
  cpSync(join(ROOT, file), join(PAGES, 'public', name));
  return (isImage ? BASE : '/') + name;
}

function listOfDecisions() {
  const names = readdirSync(join(ROOT, DECISIONS)).toSorted();
  const titles = names.map((name) => /^# (.+)$/mu.exec(read(`${DECISIONS}/${name}`))?.[1] ?? name);
  const lines = names.map((name, at) => `- [${titles[at].replace(/^\d+\. /u, '')}](${name})`);
  return `# Decisions\n\nWhy svc is built this way, in the order of the decisions.\n\n${lines.join('\n')}\n`;
}

function read(path) {
  return readFileSync(join(ROOT, path), 'utf8');
}

function write(path, text) {
  mkdirSync(dirname(join(PAGES, path)), { recursive: true });
  writeFileSync(join(PAGES, path), text);
}
