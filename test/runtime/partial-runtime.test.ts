import { createHash } from 'node:crypto'
import { createProvider, type Runtime, signingKeys, webRuntime } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { basic, mapDriver, read, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

/** Requests a token with client credentials from a provider with a partial runtime. */
async function tokenWith(runtime: Partial<Runtime>, algorithm: 'sha256' | 'sha512' = 'sha256') {
  const secret =
    algorithm === 'sha256'
      ? { sha256: sha256Of('web-secret') }
      : { sha512: createHash('sha512').update('web-secret').digest('base64') }
  const provider = await createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [{ clientId: 'web', secrets: [secret], grantTypes: ['client_credentials'], scopes: ['api1'] }],
    scopes: [{ name: 'api1' }],
    plugins: [clientCredentials()],
    runtime,
  })
  const response = await provider.handlers.token(
    new Request('https://id.example.com/connect/token', {
      method: 'POST',
      headers: { authorization: basic(['web', 'web-secret']) },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
    }),
  )
  return { response, parsed: await read(response.clone()) }
}

const names = [
  'now',
  'elapsed',
  'randomBytes',
  'sha256',
  'sha512',
  'sha256Hex',
  'base64url',
  'encrypt',
  'decrypt',
  'importKey',
  'Response',
] as const

describe('a partial runtime', () => {
  test.each(names)('is completed if it has only %s', async (name) => {
    const { parsed } = await tokenWith({ [name]: webRuntime[name] })
    expect(parsed).toMatchObject({ status: 200, body: { token_type: 'Bearer' } })
  })

  test('is completed if it is empty', async () => {
    expect((await tokenWith({})).parsed.status).toBe(200)
  })

  test('whose members are undefined is completed: an adapter may not have found a native function', async () => {
    const runtime = Object.fromEntries(names.map((name) => [name, undefined])) as Partial<Runtime>
    expect((await tokenWith(runtime)).parsed.status).toBe(200)
  })

  test('whose members are inherited is used: a class may define them', async () => {
    const runtime: Partial<Runtime> = Object.create({ now: () => 1_700_000_000 })
    const { parsed } = await tokenWith(runtime)
    const payload = JSON.parse(Buffer.from(parsed.body.access_token.split('.')[1], 'base64url').toString())
    expect(payload).toMatchObject({ iat: 1_700_000_000, nbf: 1_700_000_000, exp: 1_700_003_600 })
  })

  test('uses its own now()', async () => {
    const { parsed } = await tokenWith({ now: () => 1_700_000_000 })
    const payload = JSON.parse(Buffer.from(parsed.body.access_token.split('.')[1], 'base64url').toString())
    expect(payload).toMatchObject({ iat: 1_700_000_000, nbf: 1_700_000_000, exp: 1_700_003_600 })
  })

  test('uses its own sha256Hex()', async () => {
    let calls = 0
    const sha256Hex = (text: string): string => {
      calls += 1
      return createHash('sha256').update(text).digest('hex')
    }
    const { parsed } = await tokenWith({ sha256Hex })
    expect(parsed.status).toBe(200)
    expect(calls).toBeGreaterThan(0)
  })

  test('uses its own sha512()', async () => {
    let calls = 0
    const sha512 = (data: Uint8Array): Uint8Array => {
      calls += 1
      return Uint8Array.from(createHash('sha512').update(data).digest())
    }
    const { parsed } = await tokenWith({ sha512 }, 'sha512')
    expect(parsed.status).toBe(200)
    expect(calls).toBeGreaterThan(0)
  })

  test('uses its own randomBytes()', async () => {
    const { parsed } = await tokenWith({ randomBytes: (length) => new Uint8Array(length).fill(65) })
    const payload = JSON.parse(Buffer.from(parsed.body.access_token.split('.')[1], 'base64url').toString())
    expect(payload.jti).toBe(Buffer.alloc(16, 65).toString('base64url'))
  })

  test('uses its own Response', async () => {
    class Marked extends Response {}
    const { response } = await tokenWith({ Response: Marked })
    expect(response).toBeInstanceOf(Marked)
  })
})
