import { parseAst } from 'vite'
import { isFunction, isNode, type Node, nameIn } from './syntax.ts'

export interface FunctionLength {
  readonly path: string
  readonly name: string
  readonly lines: number
}

/** The length of each function of a file, with its signature. A function that contains others includes their lines. */
export function functionLengths({
  path,
  text,
}: {
  readonly path: string
  readonly text: string
}): readonly FunctionLength[] {
  const lengths: FunctionLength[] = []

  function visit(node: Node, name: string): void {
    const nearest = nameIn(node.id) ?? nameIn(node.key) ?? name
    if (isFunction(node))
      lengths.push({ path, name: nearest, lines: text.slice(node.start, node.end).split('\n').length })
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, nearest)
  }

  visit(parseAst(text, { lang: path.endsWith('.ts') ? 'ts' : 'js' }, path) as unknown as Node, 'module')
  return lengths
}
