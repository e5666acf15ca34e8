import { allSteps } from '../config-problems.ts'
import { closestName } from '../config-schema.ts'
import type { ClientSource } from '../plugin/client-source.ts'
import type { PluginPart, Plugins } from '../plugin/plugin.ts'
import type { Task } from '../plugin/task.ts'
import { methodKind } from './client-authentication.ts'
import { endpointKind } from './endpoints.ts'
import { directorySchemasFrom, fieldsKind } from './fields.ts'
import { formatKind } from './formats.ts'
import { grantCheckKind, grantKind } from './grants.ts'
import { type OwnedPart, partsOf } from './owned.ts'
import { type PartKind, partKind, required } from './part-kind.ts'
import { bindingKind } from './token-bindings.ts'

/** How each kind of part is checked. */
export const partKinds: Readonly<Record<PluginPart['kind'], PartKind>> = {
  grant: grantKind,
  'grant-check': grantCheckKind,
  'client-authentication': methodKind,
  endpoint: endpointKind,
  'response-format': formatKind,
  'token-binding': bindingKind,
  'client-source': partKind<ClientSource>('client source', { find: required }),
  task: partKind<Task>('task', { run: required }),
  fields: fieldsKind,
}

const pluginName = /^[a-z][a-z\d-]{0,49}$/u

/** @throws TypeError */
export function assertPluginName(name: unknown, hint = ''): void {
  if (typeof name === 'string' && pluginName.test(name)) return
  throw new TypeError(
    `plugins: "${String(name)}" is not a valid name of a plugin; use lower-case letters, digits and hyphens${hint}`,
  )
}

const members = ['kind', 'name', 'parts']

/** Returns a suggestion for the misspelled member of a plugin. */
function suggestion(plugin: object): string {
  const absent = members.filter((member) => !(member in plugin))
  for (const name of Object.keys(plugin)) {
    const closest = members.includes(name) ? undefined : closestName(name, absent)
    if (closest !== undefined) return `; it has ${name}, did you mean ${closest}?`
  }
  return ''
}

const kindNames = ['plugin', ...Object.keys(partKinds)]

const isPart = (value: unknown): value is PluginPart =>
  typeof value === 'object' && value !== null && 'kind' in value && Object.hasOwn(partKinds, String(value.kind))

/** Returns a suggestion for what is neither a plugin nor a part. */
function kindHint(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!('kind' in value)) return suggestion(value) || undefined
  const closest = closestName(String(value.kind), kindNames)
  return closest === undefined ? undefined : `; did you mean the kind ${closest}?`
}

/**
 * Flattens the option `plugins` to parts, each with the name of its plugin.
 *
 * @throws TypeError when an entry is not a plugin, a part is malformed, or two plugins have the same name.
 */
export function collectParts(plugins: Plugins): readonly OwnedPart[] {
  const byName = new Map<string, readonly PluginPart[]>()

  function add(name: string, parts: readonly PluginPart[]): void {
    if (byName.has(name))
      throw new TypeError(`plugins: two plugins have the name ${name}; remove or rename one of them`)
    byName.set(name, parts)
  }

  function addAll(entry: Plugins): void {
    if (!entry) return
    if (Array.isArray(entry)) {
      for (const plugin of entry) addAll(plugin)
      return
    }
    const single = entry as Exclude<typeof entry, readonly Plugins[]>
    if (single.kind === 'grant') {
      add(typeof single.grantType === 'string' ? single.grantType : '', [single])
    } else if (single.kind === 'plugin') {
      const { name, parts } = single
      assertPluginName(name, suggestion(single))
      if (!Array.isArray(parts) || parts.length === 0) {
        throw new TypeError(`plugins: ${name} has no parts${suggestion(single)}`)
      }
      if (!parts.every(isPart)) {
        const hint = kindHint(parts.find((part) => !isPart(part))) ?? ''
        throw new TypeError(`plugins: ${name} has an entry in parts that is not a part of a plugin${hint}`)
      }
      add(name, parts)
    } else if (isPart(single)) {
      throw new TypeError('plugins: a part other than a grant needs a name; use definePlugin(name, [part])')
    } else {
      const hint = kindHint(single) ?? '; did you forget to call its factory, as in password()?'
      throw new TypeError(`plugins: an entry is not a plugin${hint}`)
    }
  }

  addAll(plugins)
  const all = [...byName].flatMap(([plugin, parts]) => parts.map((part) => ({ plugin, part })))
  allSteps(all.map((owned) => () => partKinds[owned.part.kind].assert(owned)))
  return all
}

/**
 * Returns the schemas of clients and scopes, with the members that these plugins add.
 *
 * @throws TypeError when two plugins define the same member, or one replaces a member of the core.
 */
export const directorySchemasOf = (plugins: Plugins) => directorySchemasFrom(partsOf(collectParts(plugins), 'fields'))
