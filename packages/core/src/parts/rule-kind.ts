import { reasonOfPlugin } from '../errors/oauth-error.ts'
import type { Owned } from './part-kind.ts'
import type { NamedRule, Rule } from './rule.ts'

/** Returns the rules of all plugins. @throws TypeError when a plugin has two with one id */
export function pluginRules(rules: readonly Owned<Rule>[]): readonly NamedRule[] {
  const known = new Set<string>()
  return rules.map(({ plugin, part }) => {
    const id = `${plugin}:${part.id}`
    // To accept a finding of one would hide those of the other.
    if (known.has(id))
      throw new TypeError(`plugins: ${plugin} has two rules with the id ${part.id}; rename one of them`)
    known.add(id)
    return { ...part, id, warning: reasonOfPlugin(plugin, part.id.replaceAll('-', '_')) }
  })
}
