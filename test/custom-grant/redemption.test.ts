// Attack: a single-use credential of a custom grant (an assertion, a ticket) is used twice.
import { defineGrant, type GrantResult } from '@grantry/core'
import { mapDriver, sha256Of } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'
import { grantType, present, start } from './redeeming-grant.ts'

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

describe('a single-use credential of a custom grant', () => {
  const ticket = (result: (use: number) => Partial<GrantResult> = () => ({})) => {
    let use = 0
    return defineGrant({
      grantType,
      params: v.object({ jti: v.string() }),
      handle({ params, scopes }, kit) {
        use += 1
        return {
          subject: { sub: '1', amr: ['ticket'] },
          scopes,
          redeems: [kit.redemption(params.jti, kit.now() + 600)],
          ...result(use),
        }
      },
    })
  }

  test('is spent by the core: the second use is rejected', async () => {
    const f = await start(ticket())
    const first = await present(f, { jti: 'j1' })
    expect(first.status).toBe(200)
    const { status, body } = await present(f, { jti: 'j1' })
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'redemption_replayed' })
    expect((await present(f, { jti: 'j2' })).status).toBe(200)
    // There is no record of which tokens to revoke.
    expect(await isActive(f, first.body.access_token)).toBe(true)
  })

  test('is redeemed once by 50 concurrent requests, and the losers store nothing', async () => {
    const items = new Map<string, string>()
    const f = await start(ticket(), { storage: mapDriver(items) })
    const responses = await Promise.all(Array.from({ length: 50 }, () => present(f, { jti: 'j1' })))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(49)
    const kinds = [...items.keys()].map((key) => key.split(':')[0]).sort()
    expect(kinds).toEqual(['access', 'refresh', 'revision', 'spent'])
  })

  test('stays spent until the time that the grant named', async () => {
    const f = await start(ticket())
    await present(f, { jti: 'j1' })
    f.clock.advance(599)
    expect((await present(f, { jti: 'j1' })).body.error).toBe('invalid_grant')
  })

  test('of one grant is not spent by another with the same value', async () => {
    const otherTicket = { ...ticket(), grantType: 'urn:example:other' }
    const f = await fixture({
      plugins: [ticket(), otherTicket],
      clients: [
        {
          clientId: web[0],
          secrets: [{ sha256: sha256Of(web[1]) }],
          grantTypes: [grantType, otherTicket.grantType],
          scopes: ['api1'],
        },
      ],
    })
    for (const name of [grantType, otherTicket.grantType]) {
      const form = { grant_type: name, jti: 'j1', scope: 'api1' }
      expect((await f.post('token', form, web)).status).toBe(200)
    }
  })

  test.each<[string, (use: number) => Partial<GrantResult>, string]>([
    ['a scope that was not requested', (use) => (use === 1 ? { scopes: ['email'] } : {}), 'invalid_scope'],
    ['a demand that nothing settles', (use) => (use === 1 ? { demands: { x: {} } as object } : {}), 'invalid_grant'],
    ['an inactive user', (use) => (use === 1 ? { subject: { sub: '9', amr: ['x'] } } : {}), 'invalid_grant'],
    ['a protocol claim', (use) => (use === 1 ? { claims: { sub: '2' } } : {}), 'server_error'],
    ['a standard member', (use) => (use === 1 ? { response: { scope: 'x' } } : {}), 'server_error'],
    ['a claim that is not JSON', (use) => (use === 1 ? { claims: { x: 1n as never } } : {}), 'server_error'],
    ['a member that is not JSON', (use) => (use === 1 ? { response: { x: 1n as never } } : {}), 'server_error'],
  ])('is not spent when the result is rejected for %s', async (_, result, error) => {
    const f = await start(ticket(result))
    expect((await present(f, { jti: 'j1' })).body.error).toBe(error)
    expect((await present(f, { jti: 'j1' })).status).toBe(200)
  })
})
