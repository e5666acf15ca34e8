import type { Provider } from '@grantry/core'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as o from '../operations.ts'
import { issueMany } from '../setting.ts'

type Claims = Readonly<Record<string, string>>
type Sign = (claims: Claims) => Promise<string>

async function createSign(): Promise<Sign> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: await exportJWK(publicKey) }
  return (claims) =>
    new SignJWT({ ...claims, jti: crypto.randomUUID() }).setProtectedHeader(header).setIssuedAt().sign(privateKey)
}

// One client: it uses the same key for all requests.
let signing: Promise<Sign> | undefined

const tokenRequest: Claims = { htm: 'POST', htu: o.issuer + o.paths.token }

/** Returns an access token that is bound to the key. */
async function boundToken(provider: Provider, sign: Sign): Promise<string> {
  const response = await provider.fetch(
    new Request(o.issuer + o.paths.token, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(o.opaqueClient.join(':'))}`, dpop: await sign(tokenRequest) },
      body: new URLSearchParams({
        grant_type: 'password',
        username: o.user.username,
        password: o.user.password,
        scope: o.issuedScopes.userinfo.join(' '),
      }),
    }),
  )
  return ((await response.json()) as { readonly access_token: string }).access_token
}

const hashOf = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('base64url')

/** Returns the proofs of so many requests; those for userinfo after the access token and a space. */
export async function proofsFor(
  operation: o.ProvingOperation,
  count: number,
  provider: Provider,
): Promise<readonly string[]> {
  signing ??= createSign()
  const sign = await signing
  if (operation === 'client-credentials-dpop') return issueMany(count, () => sign(tokenRequest))
  const token = await boundToken(provider, sign)
  const claims = { htm: 'GET', htu: o.issuer + o.paths.userinfo, ath: await hashOf(token) }
  return issueMany(count, async () => `${token} ${await sign(claims)}`)
}
