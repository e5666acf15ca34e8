/** A node of the syntax tree of a program. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

export const isFunction = ({ type }: Node): boolean =>
  ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(type)

/** The name in an identifier, or in a text that names a member. */
export const nameIn = (node: unknown): string | undefined => {
  const { name, value } = Object(node) as { readonly name?: unknown; readonly value?: unknown }
  const text = name ?? value
  return typeof text === 'string' ? text : undefined
}
