import { reasonOfPlugin } from '../errors/oauth-error.ts'
import type { Owned } from './part-kind.ts'
import type { PluginRules, Rule } from './rule.ts'

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** @throws TypeError when a plugin has two rules with one id: to accept a finding of one would hide those of the other. */
function assertIds(rules: readonly Owned<Rule>[]): void {
  const known = new Set<string>()
  for (const { plugin, part } of rules) {
    const id = `${plugin}:${part.id}`
    if (known.has(id))
      throw new TypeError(`plugins: ${plugin} has two rules with the id ${part.id}; rename one of them`)
    known.add(id)
  }
}

/** Returns what runs the rules of all plugins. @throws TypeError when a plugin has two with one id */
export function pluginRules(rules: readonly Owned<Rule>[]): PluginRules {
  assertIds(rules)
  return {
    warnings: (facts) =>
      rules.flatMap(({ plugin, part: { id, remedy, source, at, check } }) =>
        at === 'check'
          ? []
          : check(facts).map(({ reason }) => ({
              reason: reasonOfPlugin(plugin, id.replaceAll('-', '_')),
              message: `${reason}. ${capitalized(remedy)} (${source})`,
            })),
      ),
    findings: (facts) =>
      rules.flatMap(({ plugin, part: { id, severity, remedy, source, at, check } }) =>
        at === 'start'
          ? []
          : check(facts).map(
              ({ where, reason }) => ({ id: `${plugin}:${id}`, severity, where, reason, remedy, source }) as const,
            ),
      ),
  }
}
