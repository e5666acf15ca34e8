import type { JsonObject } from '@grantry/core'

/** The members of a valibot schema or action that are read here. */
export interface SchemaNode {
  readonly kind?: string
  readonly type: string
  readonly pipe?: readonly SchemaNode[]
  readonly wrapped?: SchemaNode
  readonly default?: unknown
  readonly entries?: Readonly<Record<string, SchemaNode>>
  readonly item?: SchemaNode
  readonly value?: SchemaNode
  readonly options?: readonly unknown[]
  readonly literal?: unknown
  readonly requirement?: unknown
  readonly message?: unknown
  readonly title?: unknown
  readonly description?: unknown
}

/** The additions of a document to JSON Schemas that are written from valibot schemas. */
export interface JsonSchemaDialect {
  /** Returns the JSON Schema of a schema whose rule is a function, or depends on the input. */
  readonly instead?: (schema: unknown) => JsonObject | undefined
  /**
   * Returns the JSON Schema that is added to a member of an object, or `false` if the document leaves the member out.
   */
  readonly member?: (name: string, schema: SchemaNode, names: readonly string[]) => JsonObject | false
  /** Changes the JSON Schema of each value, after its actions. */
  readonly value?: (schema: JsonObject) => JsonObject
  /** Returns the JSON Schema of a type that is not known here. Default: one that accepts every value. */
  readonly unknown?: (type: string) => JsonObject
}

const isOptional = ({ type }: SchemaNode): boolean => ['optional', 'exact_optional', 'nullish'].includes(type)

const isJson = (value: unknown): boolean => value !== undefined && typeof value !== 'function'

const bound =
  (names: Readonly<Record<string, string>>) =>
  ({ requirement }: SchemaNode, type: string): JsonObject => {
    const name = names[type]
    return name !== undefined && typeof requirement === 'number' ? { [name]: requirement } : {}
  }

const shortest = bound({ array: 'minItems', string: 'minLength' })

/** The JSON Schema of an action, for a value of a type. Checks by a function add nothing. */
const actions: Readonly<Record<string, (action: SchemaNode, type: string) => JsonObject>> = {
  integer: (_action, type) => (type === 'number' ? { type: 'integer' } : {}),
  safe_integer: (_action, type) =>
    type === 'number' ? { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } : {},
  min_value: bound({ number: 'minimum' }),
  max_value: bound({ number: 'maximum' }),
  min_length: shortest,
  max_length: bound({ array: 'maxItems', string: 'maxLength' }),
  non_empty: (action, type) => shortest({ ...action, requirement: 1 }, type),
  regex: ({ requirement }, type) => (type === 'string' ? { pattern: (requirement as RegExp).source } : {}),
}

/** Returns the title and the description that an action adds. */
function textsOf({ type, title, description }: SchemaNode): JsonObject {
  if (type === 'title' && typeof title === 'string') return { title }
  return type === 'description' && typeof description === 'string' ? { description } : {}
}

/** The actions of an item of a pipe, which can be a schema with a pipe itself. */
const actionsOf = (item: SchemaNode): readonly SchemaNode[] =>
  item.pipe?.flatMap(actionsOf) ?? (item.kind === 'schema' ? [] : [item])

/** Adds actions to the alternatives that they apply to: a number with a bound can be a text instead. */
function withActions(schema: JsonObject, added: readonly SchemaNode[]): JsonObject {
  const { anyOf, type } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.map((each) => withActions(each, added)) }
  const ofType = typeof type === 'string' ? type : ''
  return Object.assign({}, schema, ...added.map((action) => actions[action.type]?.(action, ofType) ?? {}))
}

/**
 * Returns a function that converts valibot schemas to JSON Schema (draft 7, and 2020-12). What only a function checks is left
 * open: a value that matches can still be refused.
 */
export function createJsonSchema(dialect: JsonSchemaDialect): (schema: unknown) => JsonObject {
  const { instead, member: added = () => ({}), value: complete = (schema) => schema, unknown = () => ({}) } = dialect

  function objectOf({ entries = {}, type }: SchemaNode): JsonObject {
    const names = Object.keys(entries)
    const members = Object.entries(entries).flatMap(([name, schema]) => {
      const more = added(name, schema, names)
      return more === false ? [] : [{ name, schema, more }]
    })
    const required = members.filter(({ schema }) => !isOptional(schema)).map(({ name }) => name)
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(({ name, schema, more }) => [name, { ...convert(schema), ...more }])),
      ...(required.length > 0 && { required }),
      additionalProperties: type === 'object' || type === 'loose_object',
    }
  }

  function ofType(schema: SchemaNode): JsonObject {
    const { type, wrapped, item, options = [], literal, value } = schema
    if (wrapped !== undefined) {
      const inner = convert(wrapped)
      const withNull = type === 'nullable' || type === 'nullish' ? { anyOf: [{ type: 'null' }, inner] } : inner
      return { ...withNull, ...(isJson(schema.default) && { default: schema.default as string }) }
    }
    switch (type) {
      case 'object':
      case 'loose_object':
      case 'strict_object':
      case 'object_with_rest':
        return objectOf(schema)
      case 'array':
        return { type, items: convert(item) }
      case 'record':
        return { type: 'object', additionalProperties: convert(value) }
      case 'union':
        return { anyOf: options.map(convert) }
      case 'picklist':
        return { enum: options as string[] }
      case 'literal':
        return { const: literal as string }
      case 'string':
      case 'number':
      case 'boolean':
        return { type }
      default:
        return unknown(type)
    }
  }

  function converted(schema: unknown): JsonObject {
    const written = instead?.(schema)
    if (written !== undefined) return written
    const { pipe: [first, ...rest] = [], ...node } = schema as SchemaNode
    if (first === undefined) return ofType(node)
    const following = rest.flatMap(actionsOf)
    // Actions after a transformation are not about the value that is written.
    const end = following.findIndex(({ type }) => type === 'transform')
    const checks = end < 0 ? following : following.slice(0, end)
    return Object.assign(withActions(converted(first), checks), ...checks.map(textsOf))
  }

  const convert = (schema: unknown): JsonObject => complete(converted(schema))
  return convert
}

/** Returns the JSON Schema of a valibot schema, without anything that a document adds. */
export const jsonSchemaOf = createJsonSchema({})
