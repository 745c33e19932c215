import { foldSmallest, type TokenNode } from '../../../core/overview/token-tree.ts';
import { formatCount } from '../quantities.ts';
import { html, type Html, NOTHING } from './html.ts';
import { foldedTable } from './table.ts';

const ICICLE_HEIGHT = 440;
const COLUMNS = [
  { x: 0, width: 28 },
  { x: 28, width: 26 },
  { x: 54, width: 46 },
] as const;
const MOST_CHILDREN = [8, 10, 10] as const;
const MIN_LABEL_HEIGHT = 15;
const MIN_HEIGHT = 2;

/** Tokens by role, tool and file, from left to right; the height is the share. */
export function icicle(tree: TokenNode): Html {
  const drawn = icicleNodes(tree, { depth: 0, y: 0, height: ICICLE_HEIGHT, role: '', whole: Math.max(1, tree.tokens) });
  const share = (tokens: number): string => `${((100 * tokens) / Math.max(1, tree.tokens)).toFixed(1)} %`;
  const rows = tree.children.flatMap((role) => [
    [role.name, '', '', role.tokens, share(role.tokens)],
    ...role.children
      .slice(0, MOST_ROWS)
      .flatMap((tool) => [
        [role.name, tool.name, '', tool.tokens, share(tool.tokens)],
        ...tool.children
          .slice(0, MOST_ROWS)
          .map((file) => [role.name, tool.name, file.name, file.tokens, share(file.tokens)]),
      ]),
  ]);
  return html`<figure>
    <svg
      class="icicle"
      width="100%"
      height="${ICICLE_HEIGHT}"
      role="img"
      aria-label="Tokens by role, tool and object. The table below has the figures."
    >
      ${drawn}
    </svg>
    <figcaption>
      Role, then tool, then file, address or command. Height: share of ${formatCount(tree.tokens)} tokens. A result
      counts for the file of its call.
    </figcaption>
    ${foldedTable('tokens by role, tool and object', ['role', 'tool', 'object', 'tokens', 'share'], rows)}
  </figure>`;
}

const MOST_ROWS = 20;

function icicleNodes(
  parent: TokenNode,
  place: {
    readonly depth: number;
    readonly y: number;
    readonly height: number;
    readonly role: string;
    readonly whole: number;
  },
): readonly Html[] {
  const { depth, height, whole } = place;
  const column = COLUMNS[depth];
  if (column === undefined) return [];
  let y = place.y;
  return foldSmallest(parent.children, MOST_CHILDREN[depth] ?? 0).flatMap((node): readonly Html[] => {
    const own = (height * node.tokens) / Math.max(1, parent.tokens);
    const top = y;
    y += own;
    if (own < MIN_HEIGHT) return [];
    const role = depth === 0 ? roleClass(node.name) : place.role;
    const percent = `${((100 * node.tokens) / whole).toFixed(own * 100 < ICICLE_HEIGHT ? 1 : 0)} %`;
    const text =
      own < MIN_LABEL_HEIGHT
        ? NOTHING
        : html`<text x="7" y="${Math.min(own / 2 + 4, 18).toFixed(1)}"
            >${percent} ${shortName(node.name, depth)}</text
          >`;
    const box = html`<svg
      x="${column.x}%"
      y="${top.toFixed(1)}"
      width="${column.width}%"
      height="${Math.max(1, own - 1).toFixed(1)}"
    >
      <title>${node.name}: ${formatCount(node.tokens)} tokens, ${percent}</title>
      <rect class="${role} d${depth}" width="99.4%" height="100%" rx="2" />
      ${text}
    </svg> `;
    return [box, ...icicleNodes(node, { depth: depth + 1, y: top, height: own, role, whole })];
  });
}

const ROLES = new Set(['user', 'assistant', 'tool', 'system']);

function roleClass(name: string): string {
  return ROLES.has(name) ? `r-${name}` : 'r-system';
}

/** The end of a path says which file it is. */
function shortName(name: string, depth: number): string {
  if (depth < 2 || /\s/.test(name)) return name;
  return name
    .split(/(?<=[/\\])/)
    .slice(-2)
    .join('');
}
