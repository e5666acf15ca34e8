/**
 * Attack: an attacker can write to the store, and does not have the encryptionSecret. These tests show what is NOT prevented (docs/threat-model.md,
 * decision 0027); planted-records.test.ts and planted-key-ring.test.ts show what is. If a change closes one of these holes, its test fails: update the
 * threat model then.
 */
import { createHash } from 'node:crypto'
import { storedKeys } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, proof, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const keys = storedKeys({ encryptionSecret: 'a-secret-of-thirty-two-characters' })

async function setting() {
  const storage = memoryDriver()
  const f = await fixture({ storage, keys })
  return {
    f,
    storage,
    read: (key: string): string => String(storage.getItem(key)),
    plant: (key: string, value: string) => storage.setItem?.(key, value, { ttl: 3600 }),
    remove: async (kind: string) => {
      const keys = storage.getInstance?.().keys() ?? []
      for (const key of keys) if (key.startsWith(`${kind}:`)) await storage.removeItem(key)
    },
  }
}

const introspect = async ({ f }: Awaited<ReturnType<typeof setting>>, token: string) =>
  (await f.post('introspection', { token }, api1)).body.active

describe('a store writer, also beside an encrypted key ring, can', () => {
  test('become any active user of any public client: a planted refresh token is redeemed for signed tokens', async () => {
    const { f, read, plant } = await setting()
    const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
    const issued = await f.post('token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: spaClientId,
      code_verifier: proof.verifier,
    })
    // A record of their own login, with the name of another user.
    const record = JSON.parse(read(`refresh:${sha256(issued.body.refresh_token)}`))
    record.value.subject.sub = '2'
    record.value.family = 'planted'
    await plant(`refresh:${sha256('planted')}`, JSON.stringify(record))
    const forged = await f.post('token', {
      grant_type: 'refresh_token',
      refresh_token: 'planted',
      client_id: spaClientId,
    })
    const jwks = createLocalJWKSet((await f.get('jwks')).body)
    const { payload } = await jwtVerify(forged.body.id_token, jwks, { currentDate: new Date(f.clock.now() * 1000) })
    expect(payload.sub).toBe('2')
  })

  test('redeem a code twice, by removing the marker of the first time', async () => {
    const { f, remove } = await setting()
    const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    expect((await f.post('token', form, web)).status).toBe(200)
    await remove('spent')
    expect((await f.post('token', form, web)).status).toBe(200)
  })

  test('undo a revocation, by removing its record: of a family, of a JWT, and of a subject', async () => {
    const s = await setting()
    const { f, remove } = s
    const login = async (client: typeof web) =>
      (
        await f.post(
          'token',
          { grant_type: 'authorization_code', code: await f.code({ clientId: client[0] }), redirect_uri: redirectUri },
          client,
        )
      ).body
    const [family, jwt] = [await login(web), await login(webJwt)]
    await f.provider.revoke({ family: JSON.parse(s.read(`refresh:${sha256(family.refresh_token)}`)).value.family })
    await f.post('revocation', { token: jwt.access_token }, webJwt)
    expect([await introspect(s, family.access_token), await introspect(s, jwt.access_token)]).toEqual([false, false])
    await remove('revoked')
    await remove('denied')
    expect([await introspect(s, family.access_token), await introspect(s, jwt.access_token)]).toEqual([true, true])
    await f.provider.revoke({ subject: '1' })
    expect(await introspect(s, family.access_token)).toBe(false)
    await remove('epoch')
    expect(await introspect(s, family.access_token)).toBe(true)
  })

  test('forget failed passwords, by removing the counts', async () => {
    const { f, storage, remove } = await setting()
    const form = { grant_type: 'password', username: 'alice', password: 'wrong', scope: 'api1' }
    const guess = async (process: Fixture) => (await process.post('token', form, web)).status
    let status = 400
    for (let count = 0; count < 200 && status === 400; count += 1) status = await guess(f)
    expect(status).toBe(429)
    // Another process on this store, without state of its own.
    const freshProcess = () => fixture({ storage, keys, runtime: { now: f.clock.now } })
    expect(await guess(await freshProcess())).toBe(429)
    for (const kind of ['count', 'failure']) await remove(kind)
    expect(await guess(await freshProcess())).toBe(400)
  })
})
