import { type Contribution, defineGrantCheck, definePlugin } from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { exchange, setUp } from './continued-family.ts'

describe('a token that continues the family of another one', () => {
  test('expires no later', async () => {
    const f = await setUp()
    const login = await f.logIn()
    f.clock.advance(200)
    expect((await f.exchange(login.access_token)).body.expires_in).toBe(400)
  })

  test('is refused if the clock tolerance has accepted an expired one', async () => {
    const f = await setUp(undefined, { clockTolerance: 30 })
    const login = await f.logIn()
    f.clock.advance(601)
    const { status, body, failure } = await f.exchange(login.access_token)
    expect([status, body.error, failure]).toEqual([400, 'invalid_grant', 'token_expired'])
  })

  test('expires no later than the refresh token that it is for', async () => {
    const f = await setUp(undefined, { refreshLifetime: 900 })
    const login = await f.logIn()
    f.clock.advance(800)
    expect((await f.exchange(login.refresh_token, 'refresh')).body.expires_in).toBe(100)
  })

  test('has no other audience than the refresh token that it is for', async () => {
    const choice = v.object({ api: v.optional(v.string()) })
    const chosen = ({ params: { api } }: { params: { api?: string | undefined } }): Contribution => ({
      audience: api === undefined ? undefined : [api],
    })
    const check = defineGrantCheck({
      grantTypes: 'all',
      params: choice,
      authorization: { params: choice, check: chosen },
      check: chosen,
    })
    const firstApi = 'https://api1.example.com'
    const secondApi = 'https://api2.example.com'
    const f = await setUp([exchange(), definePlugin('api', [check])], {
      scopes: [
        { name: 'api1', audience: firstApi },
        { name: 'api2', audience: secondApi },
      ],
    })
    const login = await f.logIn({ scopes: ['api1', 'api2', 'offline_access'], params: { api: firstApi } })
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    const { status, failure } = await f.exchange(login.refresh_token, 'refresh', 'api2')
    expect([status, failure]).toEqual([400, 'audience_not_allowed'])
  })

  test('can have scopes that the grant chooses, if the request names none', async () => {
    const grant = {
      ...exchange((member) => ({ continuesFamilyOf: member, scopes: ['api1'] })),
      scope: 'optional',
    } as const
    const f = await setUp(grant)
    expect((await f.exchange((await f.logIn()).access_token, 'access_token', '')).body.scope).toBe('api1')
    const without = { ...exchange(() => ({ scopes: ['api1'] })), scope: 'optional' } as const
    const g = await setUp(without)
    const { failure } = await g.exchange((await g.logIn()).access_token, 'access_token', '')
    expect(failure).toBe('scope_escalation')
  })

  test('comes without a refresh token, which could outlive the family', async () => {
    const f = await setUp()
    const login = await f.logIn()
    const { body } = await f.exchange(login.refresh_token, 'refresh', 'api1 offline_access')
    expect(body.access_token).toEqual(expect.any(String))
    expect(body).not.toHaveProperty('refresh_token')
  })
})
