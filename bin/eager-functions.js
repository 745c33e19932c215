// V8 compiles most functions when they are first called. Node's compile cache has only what was compiled when a module was loaded, so each
// start would compile all others again: a third of the time that it takes to compact a small file. V8 compiles a function in parentheses at
// once, so this puts all of ours into parentheses, and the cache has their code.
import { parseSync, Visitor } from 'rolldown/utils';

/** A plugin of the bundler. Chunks that are mostly packages stay as they are, because a run calls few of their functions. */
export const eagerFunctions = {
  name: 'eager-functions',
  renderChunk: (code, { moduleIds }) => {
    const foreign = moduleIds.filter((id) => id.includes('node_modules'));
    return foreign.length * 2 > moduleIds.length ? null : wrapFunctions(code);
  },
};

function wrapFunctions(code) {
  const { program } = parseSync('chunk.js', code);
  const marks = [];
  const wrap = ({ start, end }) => marks.push({ at: start, text: '(' }, { at: end, text: ')' });
  new Visitor({
    // V8 ignores parentheses around an asynchronous one.
    ArrowFunctionExpression: (node) => node.async || wrap(node),
    // A method is one of these too, without the word.
    FunctionExpression: (node) => /^(?:async )?function/.test(code.slice(node.start)) && wrap(node),
  }).visit(program);
  marks.sort((a, b) => a.at - b.at);
  const between = (start, end) => {
    const pieces = [];
    let at = start;
    for (const mark of marks) {
      if (mark.at < start || mark.at >= end) continue;
      pieces.push(code.slice(at, mark.at), mark.text);
      at = mark.at;
    }
    return [...pieces, code.slice(at, end)].join('');
  };
  // A declaration is known in the whole module, so what takes its place comes first. It needs none of the values that come after it, as
  // long as nobody calls it, and while a module is loaded that begins behind all of them.
  const declarations = program.body.filter(({ type }) => type === 'FunctionDeclaration');
  const first = declarations.map(({ id, start, end }) => `const ${id.name} = (${between(start, end)});\n`);
  const ends = [0, ...declarations.map(({ end }) => end)];
  const rest = ends.map((end, index) => between(end, declarations[index]?.start ?? code.length));
  return [...first, ...rest].join('');
}
