import { parseAst } from 'vite'
import { isFunction, isNode, type Node, nameIn } from './syntax.ts'

interface Insertion {
  readonly at: number
  readonly text: string
}

/** A function of the tree, as traces name it. */
export interface TracedFunction {
  readonly path: string
  readonly name: string
}

/** Returns the program with a call at the start of each function, which adds its index in `functions` to the trace. */
export function instrument(path: string, text: string, functions: TracedFunction[]): string {
  const insertions: Insertion[] = []

  function visit(node: Node, outer: string): void {
    const { body } = node
    const name = nameIn(node.id) ?? nameIn(node.key) ?? outer
    if (isFunction(node) && isNode(body)) {
      const call = `globalThis.functionCalls?.push(${functions.push({ path, name }) - 1})`
      if (body.type === 'BlockStatement') insertions.push({ at: body.start + 1, text: `${call};` })
      else insertions.push({ at: body.start, text: `(${call}, ` }, { at: body.end, text: ')' })
    }
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, name)
  }

  visit(parseAst(text, { lang: path.endsWith('.ts') ? 'ts' : 'js' }, path) as unknown as Node, 'module')
  // At one place, what ends is before what begins; an inner function ends first.
  const ordered = insertions
    .map((insertion, order) => ({ ...insertion, order }))
    .sort(
      (left, right) =>
        left.at - right.at || Number(right.text === ')') - Number(left.text === ')') || left.order - right.order,
    )
  let start = 0
  let result = ''
  for (const { at, text: inserted } of ordered) {
    result += text.slice(start, at) + inserted
    start = at
  }
  return result + text.slice(start)
}
