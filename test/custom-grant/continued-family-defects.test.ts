import type { GrantResult, StoredGrant } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { exchange, type FamilyMember, setUp } from './continued-family.ts'

describe('a refusal by the core', () => {
  test('has the error code and the text of the grant', async () => {
    const grant = { ...exchange(), refusal: 'The token is unusable', refusalCode: 'invalid_request' } as const
    const f = await setUp(grant, { clockTolerance: 30 })
    const login = await f.logIn()
    f.clock.advance(601)
    const { status, body, failure } = await f.exchange(login.access_token)
    const text = 'The token is unusable'
    expect([status, body, failure]).toEqual([
      400,
      { error: 'invalid_request', error_description: text },
      'token_expired',
    ])
  })

  test('has a known code', async () => {
    await expect(setUp({ ...exchange(), refusalCode: 'server_error' as 'invalid_grant' })).rejects.toThrow(
      /: refusalCode must be one of /u,
    )
  })
})

describe('a defect of the grant', () => {
  test.each<[string, (member: FamilyMember) => Partial<GrantResult>, string, RegExp]>([
    [
      'a code, which must be redeemed',
      (member) => ({ continuesFamilyOf: member }),
      'code',
      /must be a token or a stored refresh/u,
    ],
    [
      'a copy',
      (member) => ({ continuesFamilyOf: { ...member } }),
      'access_token',
      /must be a token or a stored refresh/u,
    ],
    [
      'an identity token besides',
      (member) => ({ continuesFamilyOf: member, issue: { identityToken: true } }),
      'access_token',
      /cannot continue a family and issue more/u,
    ],
    [
      'a redemption besides',
      (member) => ({ continuesFamilyOf: member, redeems: [member as StoredGrant] }),
      'refresh',
      /cannot continue a family and issue more/u,
    ],
    ['nothing, with a refresh token that it has found', () => ({}), 'refresh', /neither redeems nor continues/u],
  ])('to continue %s', async (_, more, kind, message) => {
    const f = await setUp(exchange(more))
    const login = await f.logIn()
    const token = kind === 'code' ? await f.code() : kind === 'refresh' ? login.refresh_token : login.access_token
    const { status, failure } = await f.exchange(token, kind)
    expect(status).toBe(500)
    expect(String(failure)).toMatch(message)
  })
})

describe('the actor of a token', () => {
  const acting = (actor: unknown) =>
    exchange((member) => ({ continuesFamilyOf: member, actor }) as Partial<GrantResult>)
  const actOf = async (actor: unknown) => {
    const f = await setUp(acting(actor))
    const { body, failure } = await f.exchange((await f.logIn()).access_token)
    if (body.error !== undefined) return String(failure)
    return (await f.post('introspection', { token: body.access_token }, ['api1', 'api1-secret'])).body.act
  }

  test('is the claim act, with the chain of delegation', async () => {
    const actor = { sub: 'service', actor: { sub: 'gateway', iss: 'https://other.example.com' } }
    expect(await actOf(actor)).toEqual({
      sub: 'service',
      act: { iss: 'https://other.example.com', sub: 'gateway' },
    })
  })

  test.each([
    ['no sub', {}, /actor/u],
    ['an unknown member', { sub: 'service', scope: 'all' }, /actor/u],
    [
      'too long a chain',
      [1, 2, 3, 4, 5, 6].reduce<object>((actor) => ({ sub: 'x', actor }), { sub: 'x' }),
      /more than 5/u,
    ],
  ])('is refused with %s', async (_, actor, message) => {
    expect(await actOf(actor)).toMatch(message)
  })
})
