import type { PluginPart } from '../plugin/plugin.ts'

/** A value with the name of the plugin that it belongs to. */
export interface Owned<P> {
  readonly plugin: string
  readonly part: P
}

/** A part with the name of its plugin. */
export type OwnedPart<P extends PluginPart = PluginPart> = Owned<P>

type PartOf<K extends PluginPart['kind']> = Extract<PluginPart, { readonly kind: K }>

/** Returns the parts of one kind. */
export const partsOf = <K extends PluginPart['kind']>(
  parts: readonly OwnedPart[],
  kind: K,
): readonly OwnedPart<PartOf<K>>[] =>
  parts.filter(({ part }) => part.kind === kind) as readonly OwnedPart[] as readonly OwnedPart<PartOf<K>>[]

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
