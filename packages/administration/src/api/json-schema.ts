import type { JsonObject } from '@grantry/core'

/** The members of a valibot schema or action that are read here. */
interface Node {
  readonly type: string
  readonly pipe?: readonly Node[]
  readonly wrapped?: Node
  readonly default?: unknown
  readonly entries?: Readonly<Record<string, Node>>
  readonly item?: Node
  readonly options?: readonly unknown[]
  readonly literal?: unknown
  readonly requirement?: unknown
  readonly title?: unknown
  readonly description?: unknown
}

const isOptional = ({ type }: Node): boolean => type === 'optional' || type === 'exact_optional'

const number = (name: string, { requirement }: Node): JsonObject =>
  typeof requirement === 'number' ? { [name]: requirement } : {}

/** The JSON Schema of an action. Checks by a function add nothing. */
const actions: Readonly<Record<string, (action: Node, isArray: boolean) => JsonObject>> = {
  integer: () => ({ type: 'integer' }),
  safe_integer: () => ({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  min_value: (action) => number('minimum', action),
  max_value: (action) => number('maximum', action),
  min_length: (action, isArray) => number(isArray ? 'minItems' : 'minLength', action),
  max_length: (action, isArray) => number(isArray ? 'maxItems' : 'maxLength', action),
  title: ({ title }) => (typeof title === 'string' ? { title } : {}),
  description: ({ description }) => (typeof description === 'string' ? { description } : {}),
  regex: ({ requirement }) => ({ pattern: (requirement as RegExp).source }),
}

function objectOf(entries: Readonly<Record<string, Node>>, isOpen: boolean): JsonObject {
  const required = Object.entries(entries).flatMap(([name, node]) => (isOptional(node) ? [] : [name]))
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(entries).map(([name, node]) => [name, convert(node)])),
    ...(required.length > 0 && { required }),
    additionalProperties: isOpen,
  }
}

function withoutPipe(node: Node): JsonObject {
  const { type, wrapped, entries, item, options, literal } = node
  if (wrapped !== undefined) {
    const { default: value } = node
    const isShown = ['string', 'number', 'boolean'].includes(typeof value)
    return { ...convert(wrapped), ...(isShown && { default: value as string }) }
  }
  if (entries !== undefined) return objectOf(entries, type !== 'strict_object')
  if (type === 'array') return { type, ...(item !== undefined && { items: convert(item) }) }
  if (type === 'union') return { anyOf: (options ?? []).map(convert) }
  if (type === 'picklist') return { enum: (options ?? []) as string[] }
  if (type === 'literal') return { const: literal as string }
  if (type === 'record') return { type: 'object' }
  return ['string', 'number', 'boolean'].includes(type) ? { type } : {}
}

/**
 * Returns the JSON Schema (2020-12) of a valibot schema. What only a function checks is left open; a value that matches can
 * still be refused.
 */
export function convert(schema: unknown): JsonObject {
  const { pipe, ...node } = schema as Node
  if (pipe === undefined) return withoutPipe(node)
  const [first, ...rest] = pipe
  const base = first === undefined ? {} : convert(first)
  const isArray = base.type === 'array'
  return Object.assign({}, base, ...rest.map((action) => actions[action.type]?.(action, isArray) ?? {}))
}
