import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { createTestProvider, sha256Of } from '@grantry/testing'
import { openBrowser, redemptionOf, signInWith, web } from './page-browser.ts'

/** How often a request asks the client store. */
export interface RequestLookUps {
  readonly request: string
  readonly count: number
}

const client: ClientOptions = {
  ...web,
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'api1'],
}

/** Signs a user in on the ready pages, redeems the code, and counts the look-ups of the client in each. */
export async function clientLookUps(): Promise<readonly RequestLookUps[]> {
  let count = 0
  const { provider, post } = await createTestProvider({
    plugins: [
      authorizationCode(),
      proofKey(),
      authorizationEndpoint({ interaction: signIn({ pages: createPages() }) }),
    ],
    clients: {
      find(clientId) {
        count += 1
        return clientId === client.clientId ? client : undefined
      },
    },
    users: { authenticate: ({ username }) => ({ sub: username }) },
  })
  const results: RequestLookUps[] = []

  async function measured<T>(request: string, send: () => Promise<T>): Promise<T> {
    const before = count
    const response = await send()
    results.push({ request, count: count - before })
    return response
  }

  const open = openBrowser(provider, (request, send) =>
    measured(`${request.method} ${new URL(request.url).pathname}`, () => send(request)),
  )
  const answer = await signInWith(open, provider.issuer, 'openid api1')
  const code = new URL(answer).searchParams.get('code') ?? ''
  const { status } = await measured('POST /connect/token', () =>
    post('token', redemptionOf(code), ['web', 'web-secret']),
  )
  if (status !== 200) throw new Error(`The sign-in ended with ${status}`)
  return results
}
