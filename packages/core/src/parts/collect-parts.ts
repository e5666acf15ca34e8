import { allSteps } from '../config-problems.ts'
import { closestName } from '../config-schema.ts'
import { kindIn } from './part-kind.ts'
import type { OwnedPart, PluginPart, Plugins } from './plugin.ts'

const pluginName = /^[a-z][a-z\d-]{0,49}$/u

/** @throws TypeError */
function assertPluginName(name: unknown, hint = ''): void {
  if (typeof name === 'string' && pluginName.test(name)) return
  if (typeof name !== 'string')
    throw new TypeError(`plugins: the name must be a text: definePlugin(name, [part])${hint}`)
  throw new TypeError(
    `plugins: "${name}" is not a valid name of a plugin; use lower-case letters, digits and hyphens${hint}`,
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

/** The kinds of parts. The function that defines one is named like it: `defineGrantCheck()`. */
const partKinds: readonly string[] = [
  'grant',
  'grant-check',
  'client-authentication',
  'endpoint',
  'error-page',
  'response-format',
  'token-binding',
  'client-source',
  'scope-source',
  'task',
  'fields',
  'host-functions',
  'capability',
] satisfies readonly PluginPart['kind'][]

const isPart = (value: unknown): value is PluginPart =>
  typeof value === 'object' && value !== null && 'kind' in value && partKinds.includes(String(value.kind))

const notCalled = '; did you forget to call its factory, as in password()?'

/** Returns a suggestion for what is neither a plugin nor a part. */
function kindHint(value: unknown): string | undefined {
  if (typeof value === 'function') return notCalled
  if (Array.isArray(value)) return '; it is an array; put its parts into parts, as in [...list]'
  if (typeof value !== 'object' || value === null) return undefined
  // Such as what signIn() returns.
  if (!('kind' in value)) return suggestion(value) || '; is it an option of one?'
  const closest = closestName(String(value.kind), ['plugin', ...partKinds])
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
    } else if (single.kind === 'capability') {
      add(single.name, [single])
    } else if (isPart(single)) {
      throw new TypeError('plugins: a part other than a grant needs a name; use definePlugin(name, [part])')
    } else {
      const hint = kindHint(single) ?? notCalled
      throw new TypeError(`plugins: an entry is not a plugin${hint}`)
    }
  }

  addAll(plugins)
  const all = [...byName].flatMap(([plugin, parts]) => parts.map((part) => ({ plugin, part })))
  allSteps(all.map((owned) => () => kindIn(owned).assert(owned)))
  return all
}
