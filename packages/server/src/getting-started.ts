import type { ClientOptions, Provider, ProviderOptions } from '@grantry/core'

/** A text that needs no quotes in a shell or in curl. */
const plain = /^[\w.-]+$/u

/** Returns a client that needs only its secret to get a token, and an API scope that it may request. */
function findServiceClient({ clients, scopes = [] }: ProviderOptions): { clientId: string; scope: string } | undefined {
  if (!Array.isArray(clients)) return undefined
  const apis = scopes.flatMap(({ name, identity = false }) => (identity || !plain.test(name) ? [] : [name]))
  for (const {
    clientId,
    enabled = true,
    secrets = [],
    grantTypes = [],
    scopes: allowed = [],
  } of clients as ClientOptions[]) {
    const scope = apis.find((name) => allowed.includes(name))
    if (!enabled || secrets.length === 0 || !grantTypes.includes('client_credentials')) continue
    if (scope !== undefined && plain.test(clientId)) return { clientId, scope }
  }
  return undefined
}

/**
 * Returns shell commands that try out a running server. They contain no secret: the server stores only hashes, and curl
 * prompts for the missing password.
 *
 * @param origin the URL of the server on this machine
 */
export function gettingStartedCommands(origin: string, paths: Provider['paths'], options: ProviderOptions): string {
  const service = findServiceClient(options)
  const lines = [`curl -s ${origin}/health/ready; echo`]
  if (paths.discovery !== undefined) lines.push(`curl -s ${origin}${paths.discovery}; echo`)
  if (paths.token !== undefined && service !== undefined) {
    const { clientId, scope } = service
    lines.push(
      '',
      `echo '# A token for the client ${clientId}; curl prompts for its secret'`,
      `curl -s ${origin}${paths.token} -u ${clientId} -d grant_type=client_credentials -d scope=${scope}; echo`,
    )
  }
  return lines.join('\n')
}
