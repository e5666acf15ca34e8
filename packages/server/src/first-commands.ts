import type { ClientOptions, Provider, ProviderOptions } from '@grantry/core'

/** What a shell and curl take as it is. */
const plain = /^[\w.-]+$/u

/** A client that gets a token with nothing but its secret, and an API for which it may ask. */
function serviceOf({ clients, scopes = [] }: ProviderOptions): { clientId: string; scope: string } | undefined {
  if (!Array.isArray(clients)) return undefined
  const apis = scopes.flatMap(({ name, identity = false }) => (identity || !plain.test(name) ? [] : [name]))
  for (const {
    clientId,
    enabled = true,
    secrets = [],
    grantTypes = [],
    scopes: own = [],
  } of clients as ClientOptions[]) {
    const scope = apis.find((name) => own.includes(name))
    if (!enabled || secrets.length === 0 || !grantTypes.includes('client_credentials')) continue
    if (scope !== undefined && plain.test(clientId)) return { clientId, scope }
  }
  return undefined
}

/**
 * Commands that show that a server answers, on this machine and by its own port. They hold no secret: the server has only hashes, and curl asks for
 * the one that it is not given.
 *
 * @param origin where this machine finds the server
 */
export function firstCommands(origin: string, paths: Provider['paths'], options: ProviderOptions): string {
  const service = serviceOf(options)
  const lines = [`curl -s ${origin}/health/ready; echo`]
  if (paths.discovery !== undefined) lines.push(`curl -s ${origin}${paths.discovery}; echo`)
  if (paths.token !== undefined && service !== undefined) {
    const { clientId, scope } = service
    lines.push(
      '',
      `echo '# A token for the client ${clientId}; curl asks for its secret'`,
      `curl -s ${origin}${paths.token} -u ${clientId} -d grant_type=client_credentials -d scope=${scope}; echo`,
    )
  }
  return lines.join('\n')
}
