/**
 * Writes the documents of this repository as pages into `dist/documentation`, which `src/console` serves under `/docs`:
 * static HTML, an index to search, and `files.json`, which names each file by its address. Markup in a document is
 * text. Called by `tools/build.mjs`, when the console is built: its style and script are those of `clients/console`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import GithubSlugger from 'github-slugger';
import { Marked } from 'marked';
import MiniSearch from 'minisearch';
import { SEARCH_INDEX } from '../clients/console/src/documentation/search-index.ts';

const ENTRY = 'src/documentation/page.ts';
const FONT = '/inter-latin-wght-normal.woff2';
const ROOT_DOCUMENTS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const DECISIONS = 'docs/adr';
/** Groups of pages, in the order of the navigation; a document belongs to the first that matches. */
const GROUPS = [
  ['Guides', /^(?:README\.md|docs\/guides\/)/],
  ['Operation', /^docs\/(?:operations|monitoring|maintenance|performance|reliability)\.md$/],
  ['Development', /^(?:docs\/(?:architecture|extending|glossary|schema)\.md|[A-Z]+\.md)$/],
  ['Decisions', /^docs\/adr(?:\/|\.md$)/],
  ['Reference', /^docs\//],
];
/** Words of people for what a page is about, where none of its headings has them. */
const ALSO_FOUND_BY = {
  'docs/guides/connect-an-ai-client.md': ['MCP'],
  'docs/operations.md': ['Rotate keys and secrets'],
  'docs/reference/management-api.md': ['CSV export'],
};
const SHOWN_GROUPS = ['Guides', 'Reference', 'Operation', 'Development', 'Decisions'];
const THEME_SCRIPT =
  "try{const t=localStorage.getItem('theme');if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch{}";
const TYPES = { '.html': 'text/html; charset=utf-8', '.json': 'application/json; charset=utf-8', '.png': 'image/png' };
/** A picture for each theme, as on GitHub: the only HTML in documents. */
const PICTURE =
  /^<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([\w./-]+)">\s*<img src="([\w./-]+)" alt="([^"<>&]*)">\s*<\/picture>\s*$/;
/** A code span alone in its cell, such as an error code or a setting. */
const NAME = /^[\w.:-]+$/;

const read = (path) => readFileSync(path, 'utf8');
const hashOf = (content) => createHash('sha256').update(content).digest('base64url').slice(0, 16);
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text) => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character]);

const markdownIn = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name));

/** The documents that are served, their pictures, and the schemas they link to. */
function inputPaths() {
  const folders = ['docs', 'docs/guides', 'docs/reference', DECISIONS].filter(existsSync);
  const others = ['docs/images', 'docs/schemas']
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((name) => posix.join(folder, name)));
  return [...ROOT_DOCUMENTS.filter(existsSync), ...folders.flatMap(markdownIn), ...others];
}

/** The address of a document. */
function addressOf(path) {
  if (path === 'README.md') return '/docs';
  return `/docs/${path
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replace(/^[A-Z]+$/, (name) => name.toLowerCase())}`;
}

const groupOf = (path) => GROUPS.find(([, pattern]) => pattern.test(path))[0];

/** Everything that is written, by address. */
class Output {
  files = {};

  constructor(folder) {
    this.folder = folder;
  }

  add(address, content, options = {}) {
    const name = `${hashOf(address)}-${hashOf(content)}${options.extension ?? extname(address)}`;
    const path = join(this.folder, name);
    writeFileSync(path, content);
    const isText = !name.endsWith('.png');
    if (isText) {
      const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
      writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
      writeFileSync(`${path}.gz`, gzipSync(content));
    }
    this.files[address] = {
      name,
      type: TYPES[extname(name)],
      version: hashOf(content),
      isImmutable: options.isImmutable ?? false,
      isCompressed: isText,
    };
  }

  /** A file with a content hash in its address. */
  addImmutable(address, content) {
    const extension = extname(address);
    const versioned = `${address.slice(0, -extension.length)}-${hashOf(content)}${extension}`;
    this.add(versioned, content, { isImmutable: true });
    return versioned;
  }
}

/** A document as HTML, with its headings and search entries. */
class Rendering {
  headings = [];
  entries = [];
  #slugger = new GithubSlugger();
  #ids = new Set();

  constructor(path, text, site) {
    this.path = path;
    this.site = site;
    this.address = addressOf(path);
    this.marked = new Marked({ gfm: true, renderer: this.#renderer() });
    const tokens = this.marked.lexer(text);
    // Headings first: a table row must not get the anchor of a heading.
    this.marked.walkTokens(tokens, (token) => {
      if (token.type === 'heading') token.id = this.#idOf(this.#slugger.slug(this.#textOf(token)));
    });
    this.title = this.#textOf(tokens.find(({ type, depth }) => type === 'heading' && depth === 1));
    this.html = this.marked.parser(tokens);
    this.#collect(tokens);
  }

  #idOf(id) {
    this.#ids.add(id);
    return id;
  }

  /** The plain text of a token. */
  #textOf(token) {
    const blocks = token.type === 'table' ? [token.header, ...token.rows].flat() : token.items;
    if (blocks !== undefined) return blocks.map((block) => this.#textOf(block)).join(' ');
    return token.tokens?.map((part) => this.#textOf(part)).join('') ?? token.text ?? '';
  }

  #collect(tokens) {
    let section = { address: this.address, title: this.title, page: this.title, text: '' };
    this.entries.push(section);
    for (const token of tokens) {
      if (token.type === 'heading' && token.depth > 1) {
        const title = this.#textOf(token);
        section = { address: `${this.address}#${token.id}`, title, page: this.title, text: '' };
        this.entries.push(section);
      } else if (token.type === 'table') {
        for (const row of token.rows) {
          const text = row.map((cell) => this.#textOf(cell)).join(' ');
          if (row.id === undefined) section.text += ` ${text}`;
          else this.entries.push({ address: `${this.address}#${row.id}`, title: row.id, page: this.title, text });
        }
      } else if (token.type !== 'space' && token.type !== 'heading') section.text += ` ${this.#textOf(token)}`;
    }
  }

  #renderer() {
    const own = this;
    return {
      html({ text }) {
        const picture = PICTURE.exec(text);
        return picture ? own.#picture(picture) : escaped(text);
      },
      heading({ tokens, depth, id }) {
        const text = own.#textOf({ tokens });
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${id}">${content}</h1>\n`;
        own.headings.push({ depth, id, text });
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to “${escaped(text)}”"></a>`;
        return `<h${depth} id="${id}">${content}${anchor}</h${depth}>\n`;
      },
      code({ text }) {
        return `<div class="code"><pre tabindex="0"><code>${escaped(text)}</code></pre></div>\n`;
      },
      table({ header, rows }) {
        const cells = (row, tag) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const hasHeader = header.some(({ tokens }) => tokens.length > 0);
        const head = hasHeader
          ? `<thead><tr>${cells(header, 'th scope="col"').replaceAll('</th scope="col">', '</th>')}</tr></thead>`
          : '';
        const body = rows.map((row) => `<tr${own.#rowId(row)}>${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="table" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const target = own.#targetOf(href);
        return target === undefined ? content : `<a href="${escaped(target)}">${content}</a>`;
      },
      image({ href, text }) {
        return own.#image(href, text);
      },
    };
  }

  #rowId(row) {
    const cell = row.find(({ tokens }) => tokens.length === 1 && tokens[0].type === 'codespan');
    const name = cell?.tokens[0].text;
    if (name === undefined || !NAME.test(name) || this.#ids.has(name)) return '';
    row.id = this.#idOf(name);
    return ` id="${escaped(name)}"`;
  }

  /** The target of a link; undefined for a file of the repository that is not served. */
  #targetOf(href) {
    if (/^https?:\/\//.test(href)) return href;
    if (href.startsWith('#')) return href;
    if (!/^[\w./-]+(?:#[\w.:-]+)?$/.test(href)) return undefined;
    const [path, anchor] = href.split('#');
    const target = posix.join(dirname(this.path), path).replace(/\/$/, '');
    const address = this.site.addresses.get(target);
    return address === undefined ? undefined : anchor === undefined ? address : `${address}#${anchor}`;
  }

  #image(href, text, className = '') {
    const address = this.site.addresses.get(posix.join(dirname(this.path), href));
    if (address === undefined) return escaped(text);
    const { width, height } = pngSize(readFileSync(posix.join(dirname(this.path), href)));
    const kind = className && ` class="${className}"`;
    return `<img${kind} src="${address}" alt="${escaped(text)}" width="${width}" height="${height}" loading="lazy">`;
  }

  #picture([, dark, light, text]) {
    return `<p>${this.#image(light, text, 'in-light')}${this.#image(dark, text, 'in-dark')}</p>`;
  }
}

/** Source: PNG, 11.2.2: the header comes first. */
function pngSize(content) {
  return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
}

/** The list of decision records, which other documents link to as a folder. */
function decisionList(paths) {
  const lines = paths.map((path) => `- [${/^# (.+)$/m.exec(read(path))[1]}](adr/${basename(path)})`);
  return `# Decision records\n\nWhat was decided, why, and what was given up.\n\n${lines.join('\n')}\n`;
}

/** Ids of the frame start with an underscore; anchors of headings never do. */
function frame({ title, place, html, headings, navigation, around }, { style, scripts, icon, font, index }) {
  const contents = headings.filter(({ depth }) => depth < 4);
  const list = contents.map(
    ({ depth, id, text }) => `<li><a${depth > 2 ? ' class="deeper"' : ''} href="#${id}">${escaped(text)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="search-index" content="${index}">
<title>${escaped(title)} · Gateway documentation</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="preload" as="font" type="font/woff2" crossorigin href="${font}">
<script>${THEME_SCRIPT}</script>
${style.map((path) => `<link rel="stylesheet" href="${path}">`).join('\n')}
${scripts.map((path) => `<script type="module" src="${path}"></script>`).join('\n')}
</head>
<body>
<a class="skip" href="#_content">Skip to content</a>
<header class="bar">
<a class="menu" href="#_pages">Pages</a>
<a class="brand" href="/docs"><img src="${icon}" alt="" width="24" height="24"><b>Gateway</b> <small>Documentation</small></a>
<div class="search" role="search" hidden><input type="search" role="combobox" aria-label="Search the documentation" placeholder="Search  /" aria-expanded="false" aria-controls="_found" aria-autocomplete="list" autocomplete="off" spellcheck="false"><div id="_found" class="found" aria-label="Results" hidden></div></div>
<button class="theme" type="button" hidden></button>
<a class="console" href="/">Console</a>
</header>
<div class="columns">
<nav id="_pages" class="pages" aria-label="Pages">
${navigation}
</nav>
<main id="_content" tabindex="-1">
<p class="place">${escaped(place)}</p>
${html}
${around}
</main>
${contents.length > 1 ? `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${list.join('')}</ul></nav>` : ''}
</div>
</body>
</html>
`;
}

/** The files of the console that a page needs, from the manifest of its build. */
function consoleAssets(webFolder) {
  const manifest = JSON.parse(read(join(webFolder, '.vite/manifest.json')));
  const { file, css = [] } = manifest[ENTRY];
  return {
    style: css.map((path) => `/${path}`),
    scripts: [`/${file}`],
    icon: `/${manifest['src/icon.svg'].file}`,
    font: `/${Object.values(manifest).find(({ src }) => src?.endsWith(FONT)).file}`,
  };
}

/**
 * @param webFolder of the built console.
 * @param folder for the pages; its content is deleted.
 */
export function writeDocumentation(webFolder, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const output = new Output(folder);
  const inputs = inputPaths();
  const paths = inputs.filter((path) => path.endsWith('.md'));
  const texts = new Map(paths.map((path) => [path, read(path)]));
  texts.set(`${DECISIONS}.md`, decisionList(paths.filter((path) => path.startsWith(`${DECISIONS}/`))));

  const addresses = new Map([...texts.keys()].map((path) => [path, addressOf(path)]));
  addresses.set(DECISIONS, addressOf(`${DECISIONS}.md`));
  addresses.set('docs/openapi.json', '/openapi.json');
  for (const path of inputs.filter((name) => name.startsWith('docs/schemas/'))) {
    addresses.set(path, `/${path}`);
    output.add(`/${path}`, readFileSync(path));
  }
  for (const path of inputs.filter((name) => name.endsWith('.png'))) {
    addresses.set(path, output.addImmutable(`/${path}`, readFileSync(path)));
  }

  const pages = [...texts].map(([path, text]) => new Rendering(path, text, { addresses }));
  const groups = SHOWN_GROUPS.map((group) => ({
    group,
    pages: pages.filter(({ path }) => groupOf(path) === group).sort(byPlace),
  }));
  const search = new MiniSearch(SEARCH_INDEX);
  search.addAll(pages.flatMap(({ path, entries }) => entries.map((entry) => ({ ...entry, group: groupOf(path) }))));
  const index = output.addImmutable('/docs/search.json', JSON.stringify(search));
  const assets = { ...consoleAssets(webFolder), index };

  const ordered = groups.flatMap(({ group, pages: own }) => own.map((page) => ({ ...linkOf(page), group, page })));
  for (const [at, { page, group }] of ordered.entries()) {
    const navigation = navigationOf(groups, page.address);
    const around = neighbours(ordered[at - 1], ordered[at + 1]);
    output.add(
      page.address,
      frame(
        { ...page, title: page.title, html: page.html, headings: page.headings, place: group, navigation, around },
        assets,
      ),
      { extension: '.html' },
    );
  }
  const listed = ordered.map(({ address, title, group, page }) => ({ address, title, group, words: wordsOf(page) }));
  output.add('/docs/pages.json', JSON.stringify(listed));
  const script = createHash('sha256').update(THEME_SCRIPT).digest('base64');
  writeFileSync(join(folder, 'files.json'), JSON.stringify({ script, files: output.files }));
}

/** What the palette of the console finds a page by, beside its title. */
function wordsOf({ path, headings }) {
  const isTask = ['Guides', 'Operation'].includes(groupOf(path));
  return [...(isTask ? headings.map(({ text }) => text) : []), ...(ALSO_FOUND_BY[path] ?? [])];
}

/** The overview first, then by title. */
function byPlace(one, other) {
  const first = [addressOf('README.md'), addressOf(`${DECISIONS}.md`)];
  return (
    Number(first.includes(other.address)) - Number(first.includes(one.address)) ||
    (one.path.startsWith(`${DECISIONS}/`) ? one.path.localeCompare(other.path) : one.title.localeCompare(other.title))
  );
}

function linkOf({ address, title, path }) {
  return { address, title: path === 'README.md' ? 'Overview' : title };
}

function navigationOf(groups, here) {
  return groups
    .map(({ group, pages }) => {
      const items = pages.map((page) => {
        const { address, title } = linkOf(page);
        return `<li><a href="${address}"${address === here ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`;
      });
      return `<h2>${group}</h2>\n<ul>${items.join('')}</ul>`;
    })
    .join('\n');
}

function neighbours(before, after) {
  const link = (page, label) =>
    page === undefined
      ? ''
      : `<a href="${page.address}" rel="${label === 'Next' ? 'next' : 'prev'}">${label}: ${escaped(page.title)}</a>`;
  return `<nav class="around" aria-label="Other pages">${link(before, 'Previous')}${link(after, 'Next')}</nav>`;
}
