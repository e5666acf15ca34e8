import { visible } from './shown-text.js'

/** @import { Member } from './entry-fields.js' */
/** @import { MemberGroup } from './entry-form.js' */
/** @import { EntryKind } from './entry-pages.js' */

/** @typedef {Member & { readonly group: unknown }} DescribedMember */

/** Members that every entry has and no form shows. */
const common = ['version', 'createdAt', 'changedAt', 'secrets', 'secret', 'password']

/** The groups that are open also if none of their members has a value. */
const open = ['application', 'access', 'addresses']

/** Whether a member is a text or a list of them. @param {any} schemas */
const isOneOrMore = (schemas) =>
  Array.isArray(schemas) &&
  schemas.some(({ type }) => type === 'string') &&
  schemas.every(({ type, items }) => type === 'string' || (type === 'array' && items?.type === 'string'))

/** @param {string} name @param {any} schema @returns {Member['kind']} */
function kindOf(name, { type, enum: values, items, anyOf, default: value }) {
  if (Array.isArray(values)) return 'choice'
  // Without a known default, a box would look as if it was off.
  if (type === 'boolean') return value === undefined ? 'flag' : 'switch'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'array' && items?.type === 'string') return 'list'
  if (isOneOrMore(anyOf)) return 'oneOrMore'
  if (type === 'string') return name === 'password' ? 'password' : 'text'
  return 'json'
}

/** The hints about the text of a control. @type {Partial<Record<Member['kind'], string>>} */
const forms = { list: ' One a line.', oneOrMore: ' One a line.', json: ' As JSON.' }

/** @param {string} name @param {any} schema @returns {DescribedMember} */
function memberOf(name, schema) {
  const { const: only, enum: options = only === undefined ? undefined : [only], default: fallback } = schema
  const kind = kindOf(name, { ...schema, enum: options })
  return {
    name,
    kind,
    group: schema['x-group'],
    label: visible(schema.title ?? name, 60),
    hint: `${visible(schema.description ?? 'A member of a plugin.', 500)}${forms[kind] ?? ''}`,
    ...(options !== undefined && { options: options.map(String) }),
    // An empty list says no more than an empty field.
    ...(fallback !== undefined && typeof fallback !== 'object' && { fallback }),
  }
}

/**
 * Returns the members that the API accepts for new entries of a kind, by name. Its description is the only place that
 * explains them.
 *
 * @param {any} description OpenAPI
 * @param {string} segment
 * @returns {ReadonlyMap<string, DescribedMember>}
 */
export function membersIn(description, segment) {
  /** @type {[string, any][]} */
  const paths = Object.entries(description?.paths ?? {})
  const [, path] = paths.find(([name]) => name.endsWith(`/${segment}`)) ?? []
  const { properties = {} } = path?.post?.requestBody?.content?.['application/json']?.schema ?? {}
  return new Map(Object.entries(properties).map(([name, schema]) => [name, memberOf(name, schema)]))
}

/**
 * Returns the groups of a form, as the API describes them. A member without a group, such as one of a plugin, is in the last one.
 *
 * @param {EntryKind} kind
 * @param {any} description OpenAPI
 * @param {Record<string, unknown>} [entry] absent for a new one
 * @returns {readonly MemberGroup[]}
 */
export function groupsOf({ segment, idMember, switchMember, newMembers = [] }, description, entry) {
  const members = membersIn(description, segment)
  const hidden = [...common, switchMember, ...(entry === undefined ? [] : [idMember])]
  const shown = [...new Set([...members.keys(), ...Object.keys(entry ?? {})])]
    .filter((name) => !hidden.includes(name) || (entry === undefined && newMembers.includes(name)))
    .map((name) => members.get(name) ?? memberOf(name, {}))
  const { 'x-groups': groups = [] } = description
  const named = groups.map((/** @type {any} */ { name, title }) => ({
    title,
    members: shown.filter(({ group }) => group === name),
    closed: !open.includes(name),
  }))
  const others = shown.filter(({ group }) => !groups.some((/** @type {any} */ { name }) => name === group))
  return [...named, { title: 'Other members', members: others, closed: true }].filter(
    (group) => group.members.length > 0,
  )
}
