import type { parseDocument } from 'htmlparser2';

type ChildNode = ReturnType<typeof parseDocument>['children'][number];
type Element = Extract<ChildNode, { readonly attribs: unknown }>;

/** Elements whose content is no text for readers. */
const HIDDEN = new Set([
  'head',
  'script',
  'style',
  'noscript',
  'template',
  'title',
  'svg',
  'iframe',
  'object',
  'canvas',
  'input',
]);
const BLOCKS = new Set(
  'address article aside blockquote dd div dl dt fieldset figcaption figure footer form header hr main nav p section table tr'.split(
    ' ',
  ),
);
/** Maximum depth of elements; deeper ones are left out, so that a hostile page cannot exhaust the stack. */
const MAX_DEPTH = 200;

/** The readable part of an HTML page as Markdown: headings, lists, links, code and tables, without scripts and styles. */
export async function pageText(html: string, base: string): Promise<string> {
  const { parseDocument } = await import('htmlparser2');
  const document = parseDocument(html, { decodeEntities: true });
  const title = titleOf(document.children, 0);
  const body = blockText(document.children, { base, depth: 0, listPrefix: '' });
  const text = body
    .replaceAll(/[ \t]+\n/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return title === '' || text.startsWith('# ') ? text : `# ${title}\n\n${text}`;
}

type Place = { readonly base: string; readonly depth: number; readonly listPrefix: string };

function blockText(nodes: readonly ChildNode[], place: Place): string {
  return nodes.map((node) => nodeText(node, place)).join('');
}

function nodeText(node: ChildNode, place: Place): string {
  if (node.type === 'text') return node.data.replaceAll(/\s+/g, ' ');
  if (!('attribs' in node) || place.depth > MAX_DEPTH || isHidden(node)) return '';
  const inner = { ...place, depth: place.depth + 1 };
  const content = () => blockText(node.children, inner);
  const { name } = node;
  if (/^h[1-6]$/.test(name)) return `\n\n${'#'.repeat(Number(name[1]))} ${content().trim()}\n\n`;
  switch (name) {
    case 'br':
      return '\n';
    case 'hr':
      return '\n\n---\n\n';
    case 'pre':
      return `\n\n\`\`\`\n${plainText(node, 0).replace(/^\n|\n$/g, '')}\n\`\`\`\n\n`;
    case 'code':
      return `\`${content().trim()}\``;
    case 'strong':
    case 'b':
      return wrapped(content(), '**');
    case 'em':
    case 'i':
      return wrapped(content(), '*');
    case 'a':
      return linkText(node, content().trim(), place.base);
    case 'img':
      return node.attribs.alt ? `![${node.attribs.alt}]` : '';
    case 'ul':
    case 'ol':
      return `\n${listText(node, inner)}\n`;
    case 'td':
    case 'th':
      return `| ${content().trim().replaceAll('\n', ' ')} `;
    case 'blockquote':
      return `\n\n${content().trim().replaceAll(/^/gm, '> ')}\n\n`;
    default:
      return BLOCKS.has(name) ? `\n${content()}\n` : content();
  }
}

/** Whether readers do not see an element: such an element may contain instructions that only a model reads. */
function isHidden({ name, attribs }: Element): boolean {
  if (HIDDEN.has(name) || 'hidden' in attribs || attribs['aria-hidden'] === 'true') return true;
  return /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attribs.style ?? '');
}

function wrapped(content: string, mark: string): string {
  const text = content.trim();
  return text === '' ? '' : `${mark}${text}${mark}`;
}

function linkText({ attribs }: Element, text: string, base: string): string {
  const { href = '' } = attribs;
  if (text === '' || href.startsWith('#') || !URL.canParse(href, base)) return text;
  const { protocol, href: target } = new URL(href, base);
  return protocol === 'http:' || protocol === 'https:' ? `[${text}](${target})` : text;
}

function listText(list: Element, place: Place): string {
  const items = list.children.filter((it): it is Element => 'attribs' in it && it.name === 'li');
  return items
    .map((item, at) => {
      const mark = list.name === 'ol' ? `${at + 1}.` : '-';
      const text = blockText(item.children, place).trim();
      return `${mark} ${text.replaceAll('\n', '\n  ')}`;
    })
    .join('\n');
}

function plainText(node: ChildNode, depth: number): string {
  if (node.type === 'text') return node.data;
  if (!('children' in node) || depth > MAX_DEPTH) return '';
  return node.children.map((child) => plainText(child, depth + 1)).join('');
}

function titleOf(nodes: readonly ChildNode[], depth: number): string {
  for (const node of nodes) {
    if (!('attribs' in node) || depth > 3) continue;
    const found = node.name === 'title' ? plainText(node, 0) : titleOf(node.children, depth + 1);
    if (found.trim() !== '') return found.replaceAll(/\s+/g, ' ').trim();
  }
  return '';
}
