import type { PluginPart, Plugins } from '../plugin/plugin.ts'

/** A value with the name of the plugin that it belongs to. */
export interface Owned<P> {
  readonly plugin: string
  readonly part: P
}

/** A part with the name of its plugin. */
export type OwnedPart<P extends PluginPart = PluginPart> = Owned<P>

export type PartOf<K extends PluginPart['kind']> = Extract<PluginPart, { readonly kind: K }>

/** Returns the parts of one kind. */
export const partsOf = <K extends PluginPart['kind']>(
  parts: readonly OwnedPart[],
  kind: K,
): readonly OwnedPart<PartOf<K>>[] =>
  parts.filter(({ part }) => part.kind === kind) as readonly OwnedPart[] as readonly OwnedPart<PartOf<K>>[]

const pluginName = /^[a-z][a-z\d-]{0,49}$/u

/** @throws TypeError */
export function assertPluginName(name: unknown): void {
  if (typeof name === 'string' && pluginName.test(name)) return
  throw new TypeError(
    `plugins: "${String(name)}" is not a valid name of a plugin; use lower-case letters, digits and hyphens`,
  )
}
const kinds: Readonly<Record<PluginPart['kind'], true>> = {
  grant: true,
  'grant-check': true,
  'client-authentication': true,
  endpoint: true,
  'response-format': true,
  'token-binding': true,
  'client-source': true,
  task: true,
  fields: true,
}

const isPart = (value: unknown): value is PluginPart =>
  typeof value === 'object' && value !== null && 'kind' in value && Object.hasOwn(kinds, String(value.kind))

/**
 * Flattens the option `plugins` to parts, each with the name of its plugin.
 *
 * @throws TypeError when an entry is not a plugin, or two plugins have the same name.
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
      add(single.grantType, [single])
    } else if (single.kind === 'plugin') {
      const { name, parts } = single
      assertPluginName(name)
      if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isPart)) {
        throw new TypeError(`plugins: ${name} has an entry in parts that is not a part of a plugin`)
      }
      add(name, parts)
    } else if (isPart(single)) {
      throw new TypeError('plugins: a part other than a grant needs a name; use definePlugin(name, [part])')
    } else {
      throw new TypeError('plugins: an entry is not a plugin; did you forget to call its factory, as in password()?')
    }
  }

  addAll(plugins)
  return [...byName].flatMap(([plugin, parts]) => parts.map((part) => ({ plugin, part })))
}

/**
 * Returns the parts by the name that each claims; a part can claim none.
 *
 * @throws TypeError when two parts claim the same name. The message contains the names of both plugins.
 */
export function byClaim<P>(
  parts: readonly Owned<P>[],
  what: string,
  claimOf: (part: P) => string | undefined,
): ReadonlyMap<string, Owned<P>> {
  const claimed = new Map<string, Owned<P>>()
  for (const owned of parts) {
    const claim = claimOf(owned.part)
    if (claim === undefined) continue
    const earlier = claimed.get(claim)
    if (earlier !== undefined) {
      throw new TypeError(
        `plugins: ${earlier.plugin} and ${owned.plugin} both provide ${what} ${claim}; remove one of them`,
      )
    }
    claimed.set(claim, owned)
  }
  return claimed
}
