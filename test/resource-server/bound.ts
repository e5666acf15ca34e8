import type { AccessDecision, AccessToken, ResourceServerOptions } from '../../packages/resource-server/src/index.ts'
import { type Holder, holder } from '../dpop/parties.ts'
import { audience, createApi, keyNamed, sign, url } from './issuer.ts'

type Changes = Readonly<Record<string, unknown>>

const hashOf = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('base64url')

/** An API that accepts DPoP, a client with a key, and a token that is bound to it. */
export async function createBound(
  { dpop, ...options }: Partial<ResourceServerOptions> = {},
  { alg, claims = {} }: { readonly alg?: string; readonly claims?: Changes } = {},
) {
  const { test, api } = await createApi({ dpop: { baseUrl: audience, ...dpop }, ...options })
  const client = await holder(alg, () => test.now)
  const token = await sign(await keyNamed('one'), { cnf: { jkt: client.thumbprint }, ...claims })
  return {
    test,
    api,
    client,
    token,
    /** Signs a proof for a request to the API. */
    prove: async (changes: Changes = {}, header: Changes = {}, by: Holder = client): Promise<string> =>
      by.prove({ htm: 'GET', htu: url, ath: await hashOf(token), ...changes }, header),
    /** Sends the token with a proof, or without one. */
    send: (proof: string | undefined, { scheme = 'DPoP', to = url, scopes = 'read' } = {}): Promise<AccessDecision> =>
      api.authorize(presenting(token, proof, scheme, to), { scopes }),
  }
}

export const presenting = (token: string, proof: string | undefined, scheme = 'DPoP', to = url): Request =>
  new Request(to, { headers: { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }) } })

/** The status, the error code of the challenge and the reason of a refusal. */
export const refusalOf = ({ response, reason }: AccessDecision) => [
  response?.status,
  /error="(\w+)"/u.exec(response?.headers.get('www-authenticate') ?? '')?.[1],
  reason,
]

/** The token of an accepted request. */
export function accepted({ token, reason }: AccessDecision): AccessToken {
  if (token === undefined) throw new Error(`refused: ${reason}`)
  return token
}
