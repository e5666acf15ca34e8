import { each, type RuleGroup, type RulePart } from '../check-rules/rule.ts'
import { isNamedPlugin, type NamedPlugin } from '../configuration/named-plugins.ts'
import type { Facts } from './facts.ts'

/** A plugin that the configuration names, with its options. */
export interface Named<Name extends NamedPlugin['name'] = NamedPlugin['name']> {
  readonly plugin: Extract<NamedPlugin, { readonly name: Name }>
  readonly path: string
  readonly facts: Facts
}

export const namedPlugins = (facts: Facts): readonly Named[] =>
  (facts.configuration.plugins ?? []).flatMap((plugin, index) =>
    isNamedPlugin(plugin) ? [{ plugin, path: `plugins[${index}]`, facts }] : [],
  )

/** Returns which of these scopes are not declared. Scopes in the storage can come later. */
export function unknownScopes(names: readonly string[], { configuration, metadata }: Facts): readonly string[] {
  const { scopes_supported: known } = metadata
  return configuration.administration || !Array.isArray(known) ? [] : names.filter((name) => !known.includes(name))
}

/** Groups the rules for one plugin. */
export const whenNamed = <Name extends NamedPlugin['name']>(
  name: Name,
  parts: readonly RulePart<Named<Name>>[],
): RuleGroup<Named> =>
  each((named: Named) => (named.plugin.name === name ? [named as unknown as Named<Name>] : []), parts)
