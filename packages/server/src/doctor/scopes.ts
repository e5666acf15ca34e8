import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** What APIs are there, and who may ask for them. */
export const checkScopes: Check = ({ scopes, clients, clientsElsewhere }) => {
  const asked = new Set(clients.flatMap((client) => (client.enabled ? client.scopes : [])))
  const apis = scopes.filter(({ identity }) => !identity)
  return scopes.flatMap(({ name, identity, audience, enabled }, index) => [
    ...(!clientsElsewhere && enabled && !asked.has(name)
      ? [finding('scope-unused', `scopes[${index}]`, `No client may ask for ${name}`)]
      : []),
    // One API has nobody to be mistaken for.
    ...(!identity && audience === undefined && apis.length > 1
      ? [
          finding(
            'scope-without-audience',
            `scopes[${index}].audience`,
            `A token for ${name} names no API of its own in aud, and there are ${apis.length}`,
          ),
        ]
      : []),
  ])
}
