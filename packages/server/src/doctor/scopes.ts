import { each, type RulePart } from '../check-rules/rule.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import type { Facts } from './facts.ts'
import { pluginMissing } from './unusable.ts'

/** Returns each scope, with the facts that the rules need: whether a client may request it, for example. */
function scopesOf({ scopes, clients, configuration, hasExternalClients }: Facts) {
  const { plugins = [] } = configuration
  const canName = plugins.some((plugin) => !isNamedPlugin(plugin) || plugin.name === 'resource-indicators')
  const ofPlugins = plugins.flatMap((plugin) =>
    isNamedPlugin(plugin) && (plugin.name === 'client-metadata' || plugin.name === 'registration') ? plugin.scopes : [],
  )
  const requestable = new Set([...clients.flatMap((client) => (client.enabled ? client.scopes : [])), ...ofPlugins])
  const apis = scopes.filter(({ identity }) => !identity).length
  return scopes.map((scope, index) => ({
    ...scope,
    path: `scopes[${index}]`,
    isUsed: hasExternalClients || requestable.has(scope.name),
    apis,
    canName,
  }))
}

/** The rules for scopes: whether they are used, and whether APIs have an audience that tokens can be for. */
export const scopeRules: readonly RulePart<Facts>[] = [
  each(scopesOf, [
    {
      id: 'scope-unused',
      severity: 'info',
      remedy: 'add it to the scopes of a client, or remove it',
      source: 'RFC 9700 section 2.3',
      check: ({ name, path, enabled, isUsed }) =>
        enabled && !isUsed && { where: path, reason: `No client may request ${name}` },
    },
    // A single API cannot be confused with another.
    {
      id: 'scope-without-audience',
      severity: 'info',
      remedy: 'give the API its own audience, so that other APIs reject its tokens',
      source: 'RFC 9700 section 2.3',
      check: ({ name, path, identity, audience, apis }) =>
        !identity &&
        audience === undefined &&
        apis > 1 && {
          where: `${path}.audience`,
          reason: `A token for ${name} has no audience of its own, so the other APIs (${apis} in total) could accept it`,
        },
    },
    {
      ...pluginMissing,
      check: ({ name, path, audience, canName }) =>
        Array.isArray(audience) &&
        audience.length > 1 &&
        !canName && {
          where: `${path}.audience`,
          reason: `Tokens for ${name} need a request that names one audience, which only the plugin resource-indicators reads`,
        },
    },
  ]),
]
