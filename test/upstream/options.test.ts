import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { upstream } from '@grantry/plugins/upstream'
import { jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { json } from './openid-double.ts'
import { setUpUpstream } from './parties.ts'

const issuer = 'https://login.acme.example.com'
const bodyOf = ({ double }: Awaited<ReturnType<typeof setUpUpstream>>, path: string) =>
  new URLSearchParams(double.requests.find(({ url }) => url.endsWith(path))?.body)

describe('requests to a provider', () => {
  test('are pushed if the provider has an endpoint for it', async () => {
    const pushed = { request_uri: 'urn:ietf:params:oauth:request_uri:1', expires_in: 60 }
    const double = {
      metadata: { pushed_authorization_request_endpoint: `${issuer}/par` },
      intercept: ({ pathname }: URL) => (pathname === '/par' ? json(pushed, 201) : undefined),
    }
    const f = await setUpUpstream({ double })
    const { request } = await f.leave()
    expect(Object.fromEntries(request.searchParams)).toEqual({ client_id: 'grantry', request_uri: pushed.request_uri })
    expect(bodyOf(f, '/par').get('code_challenge_method')).toBe('S256')
    const never = await setUpUpstream({ double, provider: { pushedRequests: 'never' } })
    expect((await never.leave()).request.searchParams.has('state')).toBe(true)
  })

  test('are authenticated by a signature with a private key', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const f = await setUpUpstream({ provider: { clientSecret: undefined, privateKey: pem, privateKeyId: 'key-1' } })
    expect(nameOf(await f.comeBack(await f.leave()))).toBe('consent')
    const body = bodyOf(f, '/token')
    const { payload } = await jwtVerify(body.get('client_assertion') ?? '', createPublicKey(privateKey), {
      audience: issuer,
    })
    expect(payload).toMatchObject({ iss: 'grantry', sub: 'grantry' })
    expect(body.has('client_secret')).toBe(false)
  })

  test('prove a key with DPoP, and use the nonce of the provider', async () => {
    const proofs: (string | null)[] = []
    const f = await setUpUpstream({
      provider: { dpop: true },
      double: {
        intercept: ({ pathname }, { headers }) => {
          if (pathname !== '/token') return undefined
          proofs.push(new Headers(headers).get('dpop'))
          if (proofs.length > 1) return undefined
          const refused = json({ error: 'use_dpop_nonce' }, 400)
          refused.headers.set('dpop-nonce', 'nonce-1')
          return refused
        },
      },
    })
    await f.comeBack(await f.leave())
    expect(proofs).toHaveLength(2)
    expect(JSON.parse(Buffer.from(proofs[1]?.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
      htm: 'POST',
      nonce: 'nonce-1',
    })
  })
})

describe('the options', () => {
  const acme = { name: 'acme', issuer, clientId: 'grantry' }

  test.each([
    [{ providers: [] }, /providers must not be empty/u],
    [{ providers: [acme, acme] }, /must have different names/u],
    [{ providers: [{ ...acme, name: 'local' }] }, /must not be local/u],
    [{ providers: [{ ...acme, name: 'A b' }] }, /lower-case letters/u],
    [{ providers: [{ ...acme, issuer: 'http://login.acme.example.com' }] }, /issuer must use https$/mu],
    [
      { providers: [{ ...acme, issuer: 'https://localhost' }] },
      /not a local or reserved one; for a provider in your network, set allowPrivateAddresses/u,
    ],
    [
      { providers: [{ ...acme, issuer: 'http://127.0.0.1:8080' }] },
      /issuer must use https; for a provider in your network, set allow/u,
    ],
    [{ providers: [{ ...acme, secret: 'x' }] }, /secret/u],
  ])('refuse %j', (options, message) => {
    expect(() => upstream(options)).toThrow(message)
  })

  test.each([
    ['without a secret', { clientSecret: undefined }, ['acme']],
    ['with a secret', {}, []],
  ])('the start warns about a provider %s', async (_name, provider, named) => {
    const { events } = await setUpUpstream({ provider })
    const messages = events.flatMap((event) =>
      event.type === 'startup_warning' && event.reason.endsWith(':upstream_secret_missing') ? [event.message] : [],
    )
    expect(messages.map((message) => /The provider (\S+) has no/u.exec(message)?.[1])).toEqual(named)
  })
})
