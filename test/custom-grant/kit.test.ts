import { defineGrant, type GrantKit, OAuthError } from '@grantry/core'
import { createTestProvider, type TestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:badge'

const present = (f: TestProvider, more: Record<string, string> = {}) =>
  f.post('token', { grant_type: grantType, scope: 'api1', ...more }, testClient)

/** A grant that exposes its kit to the test. */
const withKit = (name: string, use: (kit: GrantKit) => Promise<void> | void) =>
  testGrant({
    grantType: name,
    async handle({ scopes }, kit) {
      await use(kit)
      return { scopes }
    },
  })

describe('the kit of a grant', () => {
  test('has a clock, a hash, a comparison and random ids', async () => {
    const seen: unknown[] = []
    const ids = new Set<string>()
    const grant = withKit(grantType, (kit) => {
      seen.push(kit.now(), kit.sha256('abc'), kit.equals('a', 'a'), kit.equals('a', 'b'), kit.equals('a', 'ab'))
      for (let count = 0; count < 2000; count += 1) ids.add(kit.randomId())
    })
    const f = await createTestProvider({ plugins: [grant] })
    expect((await present(f)).status).toBe(200)
    expect(seen).toEqual([f.clock.now(), 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0', true, false, false])
    expect(ids.size).toBe(2000)
    // A command would read an id that begins with a dash as an option; one in 64 would.
    for (const id of ids) expect(id).toMatch(/^\w[\w-]{42}$/u)
  })

  test('has no way to issue a token', async () => {
    let members: string[] = []
    let algorithms: readonly string[] = []
    const grant = withKit(grantType, (kit) => {
      members = Object.keys(kit)
      algorithms = kit.signingAlgorithms
    })
    const f = await createTestProvider({ plugins: [grant] })
    await present(f)
    expect(members.length).toBeGreaterThan(0)
    expect(members.filter((name) => /issue|mint|sign|store|key/iu.test(name))).toEqual([
      'issuer',
      // Their names, and no key.
      'signingAlgorithms',
      // Not a token: test/custom-grant/plugin-kit-signing.test.ts.
      'sign',
      'assertKeys',
    ])
    expect(algorithms).toEqual(['ES256'])
  })
})

describe('the records of a grant', () => {
  const door = v.object({ door: v.string() })

  test('can be written, read, created once and deleted', async () => {
    const seen: unknown[] = []
    const grant = withKit(grantType, async ({ records, now }) => {
      seen.push(await records.get('a', door))
      await records.put('a', { door: 'north' }, now() + 60)
      seen.push(await records.get('a', door))
      seen.push(await records.insert('a', { door: 'south' }, now() + 60), await records.get('a', door))
      await records.delete('a')
      seen.push(await records.get('a', door))
      seen.push(await records.insert('a', { door: 'south' }, now() + 60), await records.get('a', door))
      // A record that does not match the schema counts as absent.
      seen.push(await records.get('a', v.object({ floor: v.number() })))
    })
    const f = await createTestProvider({ plugins: [grant] })
    expect((await present(f)).status).toBe(200)
    const [north, south] = [{ door: 'north' }, { door: 'south' }]
    expect(seen).toEqual([undefined, north, false, north, undefined, true, south, undefined])
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'record_rejected', kind: 'plugin' }))
  })

  test('expire at the given time', async () => {
    const seen: unknown[] = []
    const grant = withKit(grantType, async ({ records, now }) => {
      seen.push(await records.get('a', door))
      if (seen.length === 1) await records.put('a', { door: 'north' }, now() + 60)
    })
    const f = await createTestProvider({ plugins: [grant] })
    await present(f)
    f.clock.advance(59)
    await present(f)
    f.clock.advance(1)
    await present(f)
    expect(seen).toEqual([undefined, { door: 'north' }, undefined])
  })

  test('are separate from those of every other grant, whatever the keys', async () => {
    const seen: unknown[] = []
    const writer = withKit('writer', ({ records, now }) => records.put('a', { door: 'north' }, now() + 60))
    const reader = withKit('reader', async ({ records }) => {
      for (const key of ['a', 'writer","a', '["writer","a"]', 'writer:a']) seen.push(await records.get(key, door))
    })
    const f = await createTestProvider({ plugins: [writer, reader] })
    await present(f, { grant_type: 'writer' })
    expect((await present(f, { grant_type: 'reader' })).status).toBe(200)
    expect(seen).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe('an access token that a grant receives', () => {
  /** An exchange: a token for the same subject is issued to this client. */
  const exchange = defineGrant({
    grantType: 'urn:example:exchange',
    params: v.object({ subject_token: v.string() }),
    async handle({ params, scopes }, kit) {
      const claims = (await kit.validateToken(params.subject_token, 'access_token'))?.claims
      if (typeof claims?.sub !== 'string') {
        throw new OAuthError('invalid_grant', 'The subject token is not valid', { reason: 'plugin:exchange:invalid' })
      }
      return { subject: { sub: claims.sub, amr: ['exchange'] }, scopes }
    },
  })
  const badge = testGrant({
    grantType,
    handle: ({ scopes }) => ({ subject: { sub: '1', amr: ['badge'] }, scopes, issue: { lifetime: 60 } }),
  })
  const exchanged = (f: TestProvider, token: string) =>
    present(f, { grant_type: 'urn:example:exchange', subject_token: token })

  test('yields its claims while it is valid', async () => {
    const f = await createTestProvider({ plugins: [badge, exchange] })
    const { body } = await present(f)
    const { status, body: second } = await exchanged(f, body.access_token)
    expect(status).toBe(200)
    const introspected = await f.post('introspection', { token: second.access_token }, ['api1', 'api1-secret'])
    expect(introspected.body).toMatchObject({ sub: '1', amr: ['exchange'] })
    f.clock.advance(60)
    expect((await exchanged(f, body.access_token)).body.error).toBe('invalid_grant')
  })

  test.each(['x', 'x'.repeat(43), 'a.b.c', `${'e30.'.repeat(2)}x`, 'x'.repeat(600)])(
    'yields nothing for "%s"',
    async (token) => {
      const f = await createTestProvider({ plugins: [badge, exchange] })
      expect((await exchanged(f, token)).body.error).toBe('invalid_grant')
    },
  )
})
