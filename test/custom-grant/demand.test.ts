import { defineGrantCheck, definePlugin, OAuthError } from '@grantry/core'
import { createTestProvider, type TestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

declare module '@grantry/core' {
  interface Demands {
    badge_pin: { readonly pin: string }
  }
}

const grantType = 'urn:example:badge'

const present = (f: TestProvider, more: Record<string, string> = {}) =>
  f.post('token', { grant_type: grantType, scope: 'api1', ...more }, testClient)

describe('a demand that a grant makes itself', () => {
  const badge = testGrant({
    grantType,
    handle: ({ scopes }) => ({ scopes, demands: { badge_pin: { pin: '1234' } } }),
  })
  const pin = defineGrantCheck({
    settles: 'badge_pin',
    grantTypes: [grantType],
    params: v.object({ pin: v.optional(v.string()) }),
    check({ params, demand }, kit) {
      if (demand === undefined || (params.pin !== undefined && kit.equals(params.pin, demand.pin))) return
      throw new OAuthError('invalid_grant', 'The pin is not valid', { reason: 'plugin:badge:wrong_pin' })
    },
  })

  test('is refused by the core if no check settles it', async () => {
    const f = await createTestProvider({ plugins: [badge] })
    const { status, body } = await present(f, { pin: '1234' })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'demand_unsettled' })
  })

  test('is settled by its check, with the right proof only', async () => {
    const f = await createTestProvider({ plugins: [badge, definePlugin('badge-pin', [pin])] })
    expect((await present(f, { pin: '1234' })).status).toBe(200)
    expect((await present(f, { pin: '4321' })).body).toEqual({
      error: 'invalid_grant',
      error_description: 'The pin is not valid',
    })
    expect((await present(f)).body.error).toBe('invalid_grant')
  })

  test('is not settled by a check of other grant types', async () => {
    const elsewhere = definePlugin('badge-pin', [{ ...pin, grantTypes: ['urn:example:other'] }])
    const f = await createTestProvider({ plugins: [badge, elsewhere] })
    expect((await present(f, { pin: '1234' })).body.error).toBe('invalid_grant')
    expect(f.events.at(-1)).toMatchObject({ reason: 'demand_unsettled' })
  })
})
