import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, type InteractionPort } from '@grantry/plugins/authorization-endpoint'
import { dpop } from '@grantry/plugins/dpop'
import { proofKey } from '@grantry/plugins/proof-key'
import { type PushedAuthorizationOptions, pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { basic, type Credentials, read, sha256Of, type TestProviderOptions } from '@grantry/testing'
import { clients, hostSignIn, request, setUp as setUpEndpoint, web } from '../authorization/parties.ts'

export const parUrl = 'https://id.example.com/connect/par'
export const otherClient: Credentials = ['other', 'other-secret']
export const strict: Credentials = ['strict', 'strict-secret']

/** The request of `web`, as it is pushed. */
export const pushed = Object.fromEntries(Object.entries(request).filter(([name]) => name !== 'client_id'))

/** Clients with the redirect URIs of `web`. `strict` must push its requests. */
const more = [
  { ...clients[0], clientId: otherClient[0], secrets: [{ sha256: sha256Of(otherClient[1]) }] },
  {
    ...clients[0],
    clientId: strict[0],
    secrets: [{ sha256: sha256Of(strict[1]) }],
    requirePushedAuthorizationRequests: true,
  },
]

export async function setUp(
  options: PushedAuthorizationOptions = {},
  interaction: InteractionPort = hostSignIn,
  providerOptions: Partial<TestProviderOptions> = {},
) {
  const endpoint = authorizationEndpoint({ interaction, features: [pushedAuthorization(options)] })
  const f = await setUpEndpoint(
    interaction,
    {},
    {
      plugins: [authorizationCode(), proofKey(), refreshToken(), dpop(), endpoint],
      clients: [...clients, ...more].map((client) =>
        interaction === hostSignIn ? { ...client, requireConsent: false } : client,
      ),
      ...providerOptions,
    },
  )

  async function push(
    form: Readonly<Record<string, string>> = pushed,
    as: Credentials | 'anyone' = web,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const authorization = as === 'anyone' ? {} : { authorization: basic(as) }
    const init = { method: 'POST', body: new URLSearchParams(form), headers: { ...authorization, ...headers } }
    return read(await f.provider.fetch(new Request(parUrl, init)))
  }

  /** Pushes a request, and returns the URL that the browser opens. */
  async function pushedUrl(
    repeated: Readonly<Record<string, string>> = {},
    ...request: Parameters<typeof push>
  ): Promise<string> {
    const { body } = await push(...request)
    return f.urlOf({ client_id: web[0], request_uri: String(body.request_uri), ...repeated })
  }

  return { ...f, push, pushedUrl }
}
