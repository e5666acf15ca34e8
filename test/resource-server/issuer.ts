import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose'
import { createResourceServer, type ResourceServerOptions } from '../../packages/resource-server/src/index.ts'

export const issuer = 'https://issuer.example'
export const audience = 'https://api.example'
export const start = 1_800_000_000
export const url = `${audience}/orders`

/** A key pair with an id. */
export interface SigningKey {
  readonly jwk: JWK
  readonly privateKey: CryptoKey
}

const pairs = new Map<string, Promise<GenerateKeyPairResult>>()

/** Creates a key. The same name gives the same key in all tests. */
export async function keyNamed(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const pair = pairs.get(`${alg} ${kid}`) ?? generateKeyPair(alg, { extractable: true })
  pairs.set(`${alg} ${kid}`, pair)
  const { publicKey, privateKey } = await pair
  return { jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }, privateKey }
}

type Changes = Readonly<Record<string, unknown>>

/** Signs an access token. Claims and header parameters that are `undefined` are omitted. */
export const sign = ({ jwk, privateKey }: SigningKey, claims: Changes = {}, header: Changes = {}): Promise<string> =>
  new SignJWT({
    iss: issuer,
    aud: audience,
    sub: 'alice',
    client_id: 'web',
    scope: 'read write',
    jti: crypto.randomUUID(),
    iat: start,
    exp: start + 300,
    ...claims,
  })
    .setProtectedHeader({ alg: jwk.alg, kid: jwk.kid, typ: 'at+jwt', ...header } as JWTHeaderParameters)
    .sign(privateKey)

/** Another issuer than Grantry, in the process of the test. */
export interface TestIssuer {
  /** Epoch seconds. */
  now: number
  published: JWK[]
  /** The URLs that were fetched. */
  readonly fetched: string[]
  /** Replaces the responses of URLs. */
  readonly responses: Map<string, (init: RequestInit) => Response | Promise<Response>>
  readonly options: ResourceServerOptions
}

export const jwksUri = `${issuer}/keys`
export const metadataUrl = `${issuer}/.well-known/openid-configuration`

export async function createIssuer(): Promise<TestIssuer> {
  const { jwk } = await keyNamed('one')
  const test: TestIssuer = {
    now: start,
    published: [jwk],
    fetched: [],
    responses: new Map([
      [metadataUrl, () => Response.json({ issuer, jwks_uri: jwksUri, introspection_endpoint: `${issuer}/introspect` })],
      [jwksUri, () => Response.json({ keys: test.published })],
    ]),
    options: {
      issuer,
      audience,
      now: () => test.now,
      fetch: async (url, init) => {
        test.fetched.push(url)
        // In the same tick, concurrent requests would not overlap.
        await new Promise((resolve) => setImmediate(resolve))
        return (await test.responses.get(url)?.(init)) ?? new Response(null, { status: 404 })
      },
    },
  }
  return test
}

/** Starts an issuer and a resource server that accepts its tokens. */
export async function createApi(options: Partial<ResourceServerOptions> = {}) {
  const test = await createIssuer()
  return { test, api: createResourceServer({ ...test.options, ...options }) }
}

export const bearing = (token: string, scheme = 'Bearer'): Request =>
  new Request(url, { headers: { authorization: `${scheme} ${token}` } })
