/**
 * Attack: a proof of a key is sent again. With a right password, it must not count as a failure of its user: a client that
 * repeats a request would keep the user out. And a proof is accepted once also where the request takes longer than the
 * marker of the proof lives.
 *
 * RFC 9449 section 11.1.
 */
import { definePlugin } from '@grantry/core'
import { dpop } from '@grantry/plugins/dpop'
import { mapDriver } from '@grantry/testing'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { holder, password, request, start } from '../dpop/parties.ts'
import { builtInPlugins, clients, type Fixture, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

describe('a right password with a used proof', () => {
  test('counts no failure: the user signs in with the next proof', async () => {
    const f = await start()
    const { prove } = await holder()
    const used = await prove()
    expect((await request(f, used, password)).status).toBe(200)
    const repeated: unknown[] = []
    for (let index = 0; index < 40; index += 1) repeated.push((await request(f, used, password)).body.error)
    expect(new Set(repeated)).toEqual(new Set(['invalid_dpop_proof']))
    expect((await request(f, await prove(), password)).status).toBe(200)
  })

  test('forgets no wrong password', async () => {
    const f = await start()
    const { prove } = await holder()
    const used = await prove()
    expect((await request(f, used, { grant_type: 'client_credentials', scope: 'api1' })).status).toBe(200)
    const statuses: number[] = []
    for (let index = 0; index < 40; index += 1)
      statuses.push((await request(f, await prove(), { ...password, password: 'wrong' })).status)
    expect(statuses).toContain(429)
    expect((await request(f, used, password)).status).toBe(429)
  })
})

test.each(['grant', 'signer'])(
  'a proof is refused when its marker would have ended before the tokens are issued, by a slow %s',
  async (slowPart) => {
    let now = (): number => 1_800_000_000
    let slow = 0
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const wait = (part: string): void => {
      if (part === slowPart) f?.clock.advance(slow)
    }
    const grant = testGrant({
      grantType: 'urn:example:slow',
      scope: 'optional',
      handle() {
        wait('grant')
        return { scopes: ['api1'], issue: { accessToken: 'jwt' as const } }
      },
    })
    const key = {
      publicKey: { ...(await exportJWK(publicKey)), alg: 'ES256' },
      async sign(data: Uint8Array<ArrayBuffer>) {
        wait('signer')
        return new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, data))
      },
    }
    let f: Fixture | undefined
    f = await fixture({
      keys: [key],
      plugins: [builtInPlugins, dpop(), definePlugin('slow', [grant])],
      clients: clients.map((client) =>
        client.public === true ? client : { ...client, grantTypes: [...(client.grantTypes ?? []), 'urn:example:slow'] },
      ),
      storage: mapDriver(new Map(), () => now()),
    })
    now = f.clock.now
    const { prove } = await holder('ES256', f.clock.now)
    const form = { grant_type: 'urn:example:slow', scope: 'api1' }
    const proof = await prove()
    expect((await request(f, proof, form, web)).status).toBe(200)
    f.clock.advance(60)
    slow = 61
    expect(await request(f, proof, form, web)).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
  },
)
