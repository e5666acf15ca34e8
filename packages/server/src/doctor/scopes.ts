import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** Checks whether scopes are used, and whether APIs have an audience. */
export const checkScopes: Check = ({ scopes, clients, hasExternalClients }) => {
  const requestable = new Set(clients.flatMap((client) => (client.enabled ? client.scopes : [])))
  const apis = scopes.filter(({ identity }) => !identity)
  return scopes.flatMap(({ name, identity, audience, enabled }, index) => [
    ...(!hasExternalClients && enabled && !requestable.has(name)
      ? [finding('scope-unused', `scopes[${index}]`, `No client may request ${name}`)]
      : []),
    // A single API cannot be confused with another.
    ...(!identity && audience === undefined && apis.length > 1
      ? [
          finding(
            'scope-without-audience',
            `scopes[${index}].audience`,
            `A token for ${name} has no audience of its own, so the other APIs (${apis.length} in total) could accept it`,
          ),
        ]
      : []),
  ])
}
