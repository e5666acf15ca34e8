import { parseAst } from 'vite'
import { isFunction, isNode, type Node } from '../../scripts/structure/syntax.ts'
import type { Source } from './source-files.ts'

/** The names in what is declared: an identifier, or a pattern. */
function namesIn(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return []
  const { type, name, left, argument, value, parameter, elements = [], properties = [] } = pattern
  if (type === 'Identifier') return [String(name)]
  const parts = [left, argument, parameter, type === 'Property' ? value : undefined, elements, properties]
  return parts.flat().flatMap(namesIn)
}

const declaredBy = (node: Node): readonly string[] => {
  if (node.type === 'VariableDeclarator') return namesIn(node.id)
  return isFunction(node) ? [node.id, node.params].flat().flatMap(namesIn) : []
}

const languageOf = (path: string): 'dts' | 'ts' | 'jsx' => {
  if (path.endsWith('.d.ts')) return 'dts'
  return path.endsWith('.ts') ? 'ts' : 'jsx'
}

/** The names of the variables, parameters and functions that a file declares. */
export function declaredNames({ path, text }: Source): readonly string[] {
  const visit = (node: Node): readonly string[] => [
    ...declaredBy(node),
    ...Object.values(node).flat().filter(isNode).flatMap(visit),
  ]
  return visit(parseAst(text, { lang: languageOf(path) }, path) as unknown as Node)
}
